"""The border with Hydra: what a composed config means."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from elmo_bench.mini.settings import VERSION as MINI_VERSION

PROJECT = Path(__file__).parents[1]
CONF = PROJECT / "conf"


class ConfigError(ValueError):
    """A config that cannot be run; says the key, the value and what is allowed."""


def build(node: DictConfig | Mapping[str, Any]) -> Any:
    """Build the object that a node with a `_target_` describes."""
    # Hydra 1.4 wants a _target_whitelist_ here, hence the upper bound in pyproject.toml.
    return instantiate(node, _convert_="all")


def plain(node: DictConfig) -> dict[str, Any]:
    """The resolved values as plain dicts and lists, as records and checkpoints need them."""
    values = OmegaConf.to_container(node, resolve=True, throw_on_missing=True)
    assert isinstance(values, dict)
    return {str(key): value for key, value in values.items()}


def identity(cfg: DictConfig) -> dict[str, Any]:
    """What a run computes. How it computes (trainer, logger, paths) is left out.

    A baseline knows no biLM, so that it serves for all of them; unless its word vectors are those
    of a biLM's text.
    """
    values = plain(cfg)
    task = {key: values["task"][key] for key in ("name", "build", "training")}
    if values["data"]["name"] == "hub":
        task["hub"] = values["task"]["hub"]
    result = {key: values[key] for key in ("seed", "data", "words", "elmo")}
    result["task"] = task
    if values["data"]["name"] == "mini":
        result["data"]["version"] = MINI_VERSION  # the same settings may come to make other text
    if values["elmo"]["name"] != "none":
        result["precision"] = values["precision"]
        if values["elmo"]["use"] != "all":
            del result["elmo"]["penalty"]  # on the weights of layers, which one alone has not
    if values["elmo"]["name"] != "none" or values["words"]["name"] == "corpus":
        result["bilm"] = values["bilm"]
    return result


def run_id(cfg: DictConfig) -> str:
    """Name a run by what it computes, so that repeating it replaces its record."""
    text = json.dumps(identity(cfg), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def has_baseline(cfg: DictConfig) -> bool:
    """Whether a run comes with the same model less ELMo; without words that would read nothing."""
    wanted: bool = cfg.baseline == "auto"
    return wanted and cfg.elmo.name != "none" and cfg.words.name != "none"


def baseline_of(cfg: DictConfig) -> DictConfig:
    """The same run without ELMo; `force` repeats the run with ELMo, not its baseline."""
    baseline = cfg.copy()
    OmegaConf.set_struct(baseline, False)
    baseline.elmo = OmegaConf.load(CONF / "elmo" / "none.yaml")
    baseline.force = baseline.bilm.finetune = False
    return baseline


def task_names() -> list[str]:
    """The tasks there are: one yaml file each."""
    return sorted(path.stem for path in (CONF / "task").glob("*.yaml"))


def task_config(name: str) -> DictConfig:
    """A task's own yaml, without the rest of a run."""
    if name not in task_names():
        raise ConfigError(
            f"task={name}: there is no such task; there are {', '.join(task_names())}"
        )
    return read_option(CONF / "task" / f"{name}.yaml")


def read_option(path: Path) -> DictConfig:
    """The yaml of an option, with what its defaults list puts below it.

    That is an option of its own group by name, or one of another group at a place of its own
    (`/optimizer@training.optimizer: adam`).
    """
    content = OmegaConf.load(path)
    assert isinstance(content, DictConfig)
    parts: list[DictConfig] = []
    entries: Any = OmegaConf.to_container(content.pop("defaults", OmegaConf.create([])))
    for entry in entries:
        if isinstance(entry, str):
            if entry != "_self_":
                parts.append(read_option(path.with_name(f"{entry}.yaml")))
            continue
        [(choice, name)] = entry.items()
        group, _, place = choice.removeprefix("/").partition("@")
        if choice.startswith("/") and place:
            below = OmegaConf.create({})
            OmegaConf.update(below, place, read_option(CONF / group / f"{name}.yaml"))
            parts.append(below)
    merged = OmegaConf.merge(*parts, content)
    assert isinstance(merged, DictConfig)
    return merged
