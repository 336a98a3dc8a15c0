"""What a search varies: the ranges in conf/search/<task>.yaml."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig, OmegaConf
from optuna import Trial

from elmo_bench.config.compose import CONF, ConfigError


@dataclass(frozen=True)
class Range:
    """The values that one key of a config may take: from low to high, or some choices."""

    low: float | int | None = None
    high: float | int | None = None
    step: float | int | None = None
    log: bool = False
    choices: list[Any] | None = None

    def suggest(self, trial: Trial, key: str) -> str:
        """Let a trial choose; gives the value as Hydra's command line takes it."""
        if self.choices is not None:
            return str(trial.suggest_categorical(key, [as_word(value) for value in self.choices]))
        assert self.low is not None and self.high is not None
        if isinstance(self.low, int) and isinstance(self.high, int):
            step = int(self.step or 1)
            return str(trial.suggest_int(key, self.low, self.high, step=step, log=self.log))
        return str(trial.suggest_float(key, self.low, self.high, step=self.step, log=self.log))

    def holds(self, value: Any) -> bool:
        """Whether a trial can have this value."""
        if self.choices is not None:
            return value in self.choices
        assert self.low is not None and self.high is not None
        if not isinstance(value, int | float) or not self.low <= value <= self.high:
            return False
        steps = (value - self.low) / self.step if self.step else 0
        return abs(steps - round(steps)) < 1e-9

    def as_parameter(self, value: Any) -> Any:
        """A value as a trial stores it."""
        return as_word(value) if self.choices is not None else value


def as_word(value: Any) -> str:
    """A value in the grammar of Hydra's command line."""
    return json.dumps(value).replace('"', "").replace(" ", "")


def read_space(task: str, cfg: DictConfig) -> dict[str, Range]:
    """The ranges of a task, less those of keys that a config lacks: a baseline has no ELMo.

    Args:
        task: Its short name.
        cfg: The config that trials vary.
    """
    path = CONF / "search" / f"{task}.yaml"
    if not path.exists():
        raise ConfigError(f"{path}: there is no such file; write the ranges of {task} into it")
    content = OmegaConf.to_container(OmegaConf.load(path))
    assert isinstance(content, dict)
    ranges = {str(key): Range(**settings) for key, settings in content.items()}
    return {key: found for key, found in ranges.items() if _has(cfg, key)}


def start(space: Mapping[str, Range], cfg: DictConfig) -> dict[str, Any] | None:
    """The config's own values as the first trial; None if they are not all within the ranges."""
    values = {key: _plain(OmegaConf.select(cfg, key)) for key in space}
    if not all(space[key].holds(value) for key, value in values.items()):
        return None
    return {key: space[key].as_parameter(value) for key, value in values.items()}


def _has(cfg: DictConfig, key: str) -> bool:
    parent, _, leaf = key.rpartition(".")
    node = OmegaConf.select(cfg, parent)
    if node is None and not key.startswith("elmo."):
        raise ConfigError(f"conf/search: there is no key {key}")
    return node is not None and leaf in node


def _plain(value: Any) -> Any:
    return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value
