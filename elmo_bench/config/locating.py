"""Imports the classes that a config names: only settings and classes of task packages."""

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from elmo_bench.config.errors import ConfigError

if TYPE_CHECKING:
    from elmo_bench.config.settings import TaskBuild

_TASK = re.compile(r"(elmo_bench\.tasks\.\w+)\.task\.\w+")


def task_settings_class(target: Any) -> type["TaskBuild"]:
    """The class `Settings` in settings.py next to a task's module; imports no torch."""
    found: type[TaskBuild] = _attribute(f"{_package(target)}.settings", "Settings", target)
    return found


def build_task(settings: "TaskBuild") -> Any:
    """The task that settings describe; imports its model, and so torch."""
    _package(settings.target)
    module, _, name = settings.target.rpartition(".")
    return _attribute(module, name, settings.target)(settings)


def _attribute(module: str, name: str, target: str) -> Any:
    try:
        return getattr(import_module(module), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ConfigError(
            f"task.build._target_={target}: there is no {module}.{name} ({error})"
        ) from error


def _package(target: Any) -> str:
    # A config may come with somebody else's model, so it may only name tasks.
    found = _TASK.fullmatch(target) if isinstance(target, str) else None
    if found is None:
        raise ConfigError(
            f"task.build._target_={target}: must be elmo_bench.tasks.<name>.task.<Class>"
        )
    return found.group(1)
