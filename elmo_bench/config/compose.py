"""The border with Hydra: what a composed config means."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

PROJECT = Path(__file__).parents[2]
CONF = PROJECT / "conf"


class ConfigError(ValueError):
    """A config that cannot be run; says the key, the value and what is allowed."""


def compose(name: str, overrides: Sequence[str] = (), with_hydra: bool = False) -> DictConfig:
    """The config that `python run.py OVERRIDES` (or pretrain.py, by `name`) would have.

    Args:
        name: The main config: run or pretrain.
        overrides: As on the command line.
        with_hydra: Include Hydra's own settings, of sweepers and launchers.
    """
    settings = list(overrides)
    if GlobalHydra.instance().is_initialized():  # within run.py, on the same folder
        return hydra.compose(name, settings, return_hydra_config=with_hydra)
    with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
        return hydra.compose(name, settings, return_hydra_config=with_hydra)


def build(node: DictConfig | Mapping[str, Any]) -> Any:
    """Build the object that a node with a `_target_` describes."""
    # Hydra 1.4 wants a _target_whitelist_ here, hence the upper bound in pyproject.toml.
    return instantiate(node, _convert_="all")


def plain(node: DictConfig) -> dict[str, Any]:
    """The resolved values as plain dicts and lists, as records and checkpoints need them."""
    values = OmegaConf.to_container(node, resolve=True, throw_on_missing=True)
    assert isinstance(values, dict)
    return {str(key): value for key, value in values.items()}


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
