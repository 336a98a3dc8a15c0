"""What run.py and pretrain.py share around Hydra's main: help without a task, errors in a line."""

import sys
from collections.abc import Callable
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from elmo_bench.config.checks import unknown_key_message
from elmo_bench.config.compose import CONF, ConfigError, task_config, task_names

HELP_FLAGS = {"--help", "-h", "--hydra-help", "--cfg", "-c", "--info", "--version"}


def guarded(main: Callable[[], object], name: str) -> int:
    """Call a Hydra main; a mistake on the command line ends with a word on what to do.

    Args:
        main: The function that Hydra decorated, which reads sys.argv.
        name: The main config in conf/.
    """
    sys.argv[1:] = words = _without_flags([_at_home(word) for word in sys.argv[1:]])
    needs_task = name == "run" and not any(map(_chooses_task, words))
    if needs_task and HELP_FLAGS & {word.partition("=")[0] for word in words}:
        sys.argv.append(f"task={task_names()[0]}")  # help shows a whole config
    elif needs_task:
        print(_task_list(), file=sys.stderr)
        return 2
    _prefer_own_launchers()
    try:
        main()
    except SystemExit as stop:
        if stop.code == 1:  # Hydra has told what it could not compose, but not what there is
            print("\n".join(_mistyped(words, name)), file=sys.stderr)
        raise
    except KeyboardInterrupt:
        print(f"{name}.py: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


def one_device_per_job(cfg: DictConfig) -> None:
    """Refuse a sweep of trainings that each take several processes."""
    for key in ("devices", "num_nodes"):
        value = cfg.trainer[key]
        if value != 1:
            raise ConfigError(
                f"trainer.{key}={value} in a sweep (-m): Lightning starts its further processes by "
                "running this same command again, and each of them would begin the whole sweep. "
                "Start such trainings one by one: for seed in 1 2; do python pretrain.py "
                f"trainer.{key}={value} pretraining.seed=$seed name=NAME-$seed ...; done"
            )


def _prefer_own_launchers() -> None:
    """Let conf/hydra/launcher/joblib.yaml be, not what the plugin registers by the same name.

    Hydra would check the one against the other and warn of doing so, in each process of a sweep.
    """
    Plugins.instance()  # finds the plugins, which register themselves
    registered = ConfigStore.instance().repo["hydra"]["launcher"]
    for path in (CONF / "hydra" / "launcher").glob("*.yaml"):
        registered.pop(path.name, None)


def _at_home(word: str) -> str:
    """`data.dir=~/corpus` with the home folder spelled out: Hydra takes no ~ in a value."""
    key, equals, value = word.partition("=")
    return f"{key}={Path.home()}{value[1:]}" if equals and value.startswith("~/") else word


def _without_flags(words: list[str]) -> list[str]:
    """The words as Hydra takes them: -m first, --dry-run as a key; planning launches nothing."""
    multirun = {"-m", "--multirun"} & set(words)
    words = [*multirun, *(word for word in words if word not in multirun)]
    if "--dry-run" not in words:
        return words
    launching = ("hydra/launcher=", "hydra.launcher.")
    kept = [w for w in words if w != "--dry-run" and not w.lstrip("+").startswith(launching)]
    return [*kept, "dry_run=true"]


def _chooses_task(word: str) -> bool:
    """Whether a word of the command line is a task, or an experiment that names its tasks."""
    group, _, option = word.partition("=")
    path = CONF / "experiment" / f"{option}.yaml"
    if group != "experiment" or not path.exists():
        return group == "task"
    entries = OmegaConf.select(OmegaConf.load(path), "defaults", default=[])
    return any("override /task" in entry for entry in entries)


def _task_list() -> str:
    lines = ["Which task? `python run.py task=NAME` with one of these names:"]
    for task in task_names():
        config = task_config(task)
        published = config.published
        lines.append(
            f"  {task:6} {config.title} (paper: {published.baseline} without, "
            f"{published.elmo} with ELMo)"
        )
    return "\n".join(lines)


def _mistyped(words: list[str], name: str) -> list[str]:
    """For each override whose key does not exist, which keys do."""
    overrides = [word for word in words if "=" in word and not word.startswith("-")]
    groups = [w for w in overrides if (CONF / w.partition("=")[0]).is_dir() and "," not in w]
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            cfg = compose(name, groups)
    except HydraException:
        return []  # the choice of a group is wrong, and Hydra lists the options of that itself
    keys = [word.lstrip("+~").partition("=")[0].partition("@")[0] for word in overrides]
    absent = [prefix for key in keys if (prefix := _absent_prefix(cfg, key)) is not None]
    return [unknown_key_message(prefix, cfg) for prefix in absent]


def _absent_prefix(cfg: DictConfig, key: str) -> str | None:
    """The first part of a key that does not exist: `task.trainin` of `task.trainin.patience`."""
    if key.startswith("hydra") or (CONF / key).is_dir():
        return None
    node: object = cfg
    parts = key.split(".")
    for depth, part in enumerate(parts, start=1):
        if not isinstance(node, DictConfig) or part not in node:
            return ".".join(parts[:depth])
        node = OmegaConf.select(node, part)
    return None
