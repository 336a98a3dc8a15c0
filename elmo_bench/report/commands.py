"""The command line that would make a run: what fills a missing cell of a table."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from elmo_bench.config import CONF
from elmo_bench.report.groups import ELMO_KEYS, flatten

GROUPS = ("data", "words", "elmo", "bilm")
NO_ELMO: dict[str, Any] = {"name": "none", "places": []}
ABSENT = object()


def run_command(config: Mapping[str, Any], seeds: Iterable[int] = (1,)) -> str:
    """The command that computes a config (without a seed) for some seeds.

    Options that conf/run.yaml chooses anyway are left out, and so are values that the chosen
    yaml files have already.
    """
    options = {name: config[name]["name"] for name in ("task", *GROUPS) if name in config}
    defaults = default_options()
    words = [f"{k}={v}" for k, v in options.items() if defaults.get(k) != v]
    usual = flatten(_composed(**options) or {})
    usual |= {f"{name}.name": option for name, option in options.items()}
    for key, value in flatten({k: v for k, v in config.items() if k != "fingerprint"}).items():
        if usual.get(key, ABSENT) != value:
            words.append(f"{key}={_hydra_value(value, key)}")
    seeds = sorted(seeds) or [1]
    if seeds != [1]:
        words.append("seed=" + ",".join(map(str, seeds)))
    sweep = ["-m"] if len(seeds) > 1 else []
    return shlex.join(["python", "run.py", *sweep, *words])


def with_elmo(config: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """A config with other ELMo settings; a baseline's gets the usual ones and biLM first."""
    changed = {key: value for key, value in config.items() if key != "fingerprint"}
    if config["elmo"]["name"] == "none":
        options = default_options() | {k: config[k]["name"] for k in ("task", "data", "words")}
        options["elmo"] = changes.get("name", options["elmo"])
        usual = _composed(**options) or {k: {"name": options[k]} for k in ("elmo", "bilm")}
        changed |= {key: usual[key] for key in ("elmo", "bilm", "precision") if key in usual}
    changed["elmo"] = {**changed["elmo"], **changes}
    return changed


def without_elmo(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config of a run's baseline."""
    return {k: v for k, v in config.items() if k not in ELMO_KEYS} | {"elmo": NO_ELMO}


def with_words(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A config with another option of static words, as its yaml has it."""
    words = _plain(OmegaConf.load(CONF / "words" / f"{name}.yaml"))
    return {**{k: v for k, v in config.items() if k != "fingerprint"}, "words": words}


@cache
def default_options() -> dict[str, str]:
    """The options that conf/run.yaml chooses."""
    entries = _plain(OmegaConf.load(CONF / "run.yaml"))["defaults"]
    chosen = {
        group: option for entry in entries if entry != "_self_" for group, option in entry.items()
    }
    return {group: option for group, option in chosen.items() if group in GROUPS}


@cache
def usual_elmo(task: str, data: str) -> dict[str, Any]:
    """The ELMo settings that a task's yaml has, and the yaml of its size for some data."""
    paths = (CONF / "task" / f"{task}.yaml", CONF / "size" / data / f"{task}.yaml")
    sections = [_plain(OmegaConf.load(path)).get("elmo", {}) for path in paths if path.is_file()]
    return {key: value for section in sections for key, value in section.items()}


def options_of(group: str) -> list[str]:
    """The options of a config group, by name."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def _composed(elmo: str, **options: str) -> dict[str, Any] | None:
    """What the yaml files give for some options, with ??? where a value must be chosen.

    None for options that this checkout lacks: the records may come from elsewhere.
    """
    try:
        composed = _compose(tuple(f"{group}={option}" for group, option in sorted(options.items())))
        composed = composed.copy()
        OmegaConf.set_struct(composed, False)
        # Composing takes a tenth of a second, so once for all options of this group.
        composed.elmo = OmegaConf.load(CONF / "elmo" / f"{elmo}.yaml")
        return _plain(composed, resolve=True)
    except (HydraException, OmegaConfBaseException, FileNotFoundError):
        return None


@cache
def _compose(overrides: tuple[str, ...]) -> DictConfig:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("run", list(overrides))


def _plain(node: Any, resolve: bool = False) -> dict[str, Any]:
    values = OmegaConf.to_container(node, resolve=resolve, throw_on_missing=False)
    assert isinstance(values, dict)
    return {str(key): value for key, value in values.items()}


def _hydra_value(value: Any, key: str) -> str:
    """A value in the grammar of Hydra's command line."""
    if value == "???":
        return key.rpartition(".")[2].upper()
    if value is None or isinstance(value, bool | int | float | list | dict):
        return json.dumps(value).replace('"', "").replace(", ", ",").replace(": ", ":")
    text = str(value)
    return text if re.fullmatch(r"[\w./~+@%-]*", text) else json.dumps(text, ensure_ascii=False)
