"""The search space of a task: the ranges in conf/search/<task>.yaml."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import OmegaConf
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from elmo_bench.config.errors import ConfigError
from elmo_bench.config.folders import CONF
from elmo_bench.config.settings import RunSettings


@dataclass(frozen=True)
class Range:
    """The values that one key of a config may take: from low to high, or a list of choices."""

    low: float | int | None = None
    high: float | int | None = None
    step: float | int | None = None
    log: bool = False
    choices: list[Any] | None = None

    def distribution(self) -> BaseDistribution:
        """The same for Optuna; choices are words of Hydra's grammar."""
        if self.choices is not None:
            return CategoricalDistribution([as_word(value) for value in self.choices])
        assert self.low is not None and self.high is not None
        if isinstance(self.low, int) and isinstance(self.high, int):
            return IntDistribution(self.low, self.high, step=int(self.step or 1), log=self.log)
        return FloatDistribution(self.low, self.high, step=self.step, log=self.log)

    @property
    def is_finite(self) -> bool:
        """Whether a trial may have only finitely many values."""
        found = self.distribution()
        return not isinstance(found, FloatDistribution) or found.step is not None

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
    """A value in the grammar of Hydra's overrides."""
    return json.dumps(value).replace('"', "").replace(" ", "")


def read_space(task: str, settings: RunSettings) -> dict[str, Range]:
    """The ranges of a task; those of ELMo are left out for a baseline.

    Args:
        task: Its short name.
        settings: The settings that trials start from.
    """
    path = CONF / "search" / f"{task}.yaml"
    if not path.exists():
        raise ConfigError(f"{path}: no such file; write the search ranges of {task} there")
    content = OmegaConf.to_container(OmegaConf.load(path))
    assert isinstance(content, dict)
    ranges = {str(key): Range(**values) for key, values in content.items()}
    values = settings.plain()
    if settings.elmo.is_baseline:
        ranges = {key: found for key, found in ranges.items() if not key.startswith("elmo.")}
    for key in ranges:
        _select(values, key)
    return ranges


def start(space: Mapping[str, Range], settings: RunSettings) -> dict[str, Any] | None:
    """The settings' own values as the first trial; None if they are not all within the ranges."""
    plain = settings.plain()
    values = {key: _select(plain, key) for key in space}
    if not all(space[key].holds(value) for key, value in values.items()):
        return None
    return {key: space[key].as_parameter(value) for key, value in values.items()}


def _select(values: Any, key: str) -> Any:
    for part in key.split("."):
        if not isinstance(values, dict) or part not in values:
            raise ConfigError(f"conf/search: the key {key} is unknown")
        values = values[part]
    return values
