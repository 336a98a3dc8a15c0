"""Optimizers and schedules of PyTorch, from the settings that name them."""

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch.optim import SGD, Optimizer
from torch.optim.lr_scheduler import LRScheduler

from elmo_bench.config.errors import ConfigError, unknown_key
from elmo_bench.config.settings import FromTorch, OptimizerSettings


def optimizer_factory(settings: OptimizerSettings) -> Callable[..., Any]:
    """A function that makes the optimizer of the given parameters."""
    return _factory(settings, "task.training.optimizer")


def scheduler_factory(settings: FromTorch | None) -> Callable[..., Any] | None:
    """A function that makes the schedule of the given optimizer; None keeps the rate."""
    return None if settings is None else _factory(settings, "task.training.scheduler")


KINDS = (Optimizer, LRScheduler)


def _factory(settings: FromTorch, key: str) -> Callable[..., Any]:
    module, _, name = settings.target.rpartition(".")
    found: Any = getattr(import_module(module), name, None)
    if not (isinstance(found, type) and issubclass(found, KINDS)) or found in KINDS:
        raise ConfigError(f"{key}._target_={settings.target}: PyTorch has no such class")
    known, options = list(inspect.signature(found).parameters)[1:], settings.options()
    for option, value in options.items():
        if option not in known:
            raise ConfigError(unknown_key(f"{key}.{option}", value, known))
    parameter = torch.nn.Parameter(torch.zeros(1))
    try:  # before training, since only the class knows which values it takes
        first: Any = SGD([parameter]) if issubclass(found, LRScheduler) else [parameter]
        found(first, **options)
    except Exception as error:
        raise ConfigError(f"{key}: {name} does not take {options} ({error})") from error
    return partial(found, **options)
