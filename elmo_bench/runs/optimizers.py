"""Optimizers and schedules of PyTorch, from the settings that name them."""

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from elmo_bench.config.errors import ConfigError, unknown_key
from elmo_bench.config.settings import FromTorch, OptimizerSettings


def optimizer_factory(settings: OptimizerSettings) -> Callable[..., Any]:
    """A function that makes the optimizer of the given parameters."""
    return _factory(settings, "task.training.optimizer")


def scheduler_factory(settings: FromTorch | None) -> Callable[..., Any] | None:
    """A function that makes the schedule of the given optimizer; None keeps the rate."""
    return None if settings is None else _factory(settings, "task.training.scheduler")


def _factory(settings: FromTorch, key: str) -> Callable[..., Any]:
    module, _, name = settings.target.rpartition(".")
    found = getattr(import_module(module), name, None)
    if found is None:
        raise ConfigError(f"{key}._target_={settings.target}: PyTorch has no such class")
    known = list(inspect.signature(found).parameters)[1:]
    for option, value in settings.options().items():
        if option not in known:
            raise ConfigError(unknown_key(f"{key}.{option}", value, known))
    return partial(found, **settings.options())
