"""The boundary with Hydra: yaml files and overrides in, typed settings out."""

from collections.abc import Sequence
from typing import Any, TypeVar

import hydra
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException
from pydantic import ValidationError

from elmo_bench.config.errors import ConfigError, explain
from elmo_bench.config.fields import Settings
from elmo_bench.config.folders import CONF, options
from elmo_bench.config.pretraining_settings import PretrainSettings
from elmo_bench.config.settings import RunSettings, TaskSettings

Kind = TypeVar("Kind", bound=Settings)


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


def run_settings(config: DictConfig | Sequence[str]) -> RunSettings:
    """The settings of a run, from what Hydra composed or from overrides."""
    return validated(RunSettings, _composed("run", config))


def pretrain_settings(config: DictConfig | Sequence[str]) -> PretrainSettings:
    """The settings of a pretraining, from what Hydra composed or from overrides."""
    return validated(PretrainSettings, _composed("pretrain", config))


def task_settings(name: str) -> TaskSettings:
    """The settings of a task, at the paper's size."""
    if name not in task_names():
        raise ConfigError(f"task={name}: unknown; the tasks are {', '.join(task_names())}")
    return run_settings([f"task={name}", "data=files"]).task


def task_names() -> list[str]:
    """The tasks that exist: one yaml file each."""
    return options("task")


def validated(kind: type[Kind], values: Any, prefix: str = "") -> Kind:
    """Settings from plain values; a ConfigError reports in one line what is wrong."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise explain(error, values if isinstance(values, dict) else {}, prefix) from error


def _composed(name: str, config: DictConfig | Sequence[str]) -> Any:
    composed = config if isinstance(config, DictConfig) else compose(name, config)
    try:
        return OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
    except MissingMandatoryValue as error:
        raise ConfigError(
            f"{error.full_key}: a value is missing; give {error.full_key}=..."
        ) from error
    except OmegaConfBaseException as error:
        raise ConfigError(f"{error.full_key}: {str(error).splitlines()[0]}") from error
