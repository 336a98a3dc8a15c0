"""What run.py and pretrain.py share around Hydra's main: help, flags, and errors in one line."""

import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from elmo_bench.config.errors import ConfigError, cannot_pretrain, unknown_key, unknown_option
from elmo_bench.config.folders import CONF
from elmo_bench.errors import end

HELP_FLAGS = {"--help", "-h"}
# Flags of Hydra that need no task; all of them show something and stop.
INFO_FLAGS = {"--hydra-help", "--cfg", "-c", "--info", "-i", "--version", "-sc"}
INFO_FLAGS |= {"--shell-completion"}
VISIBLE_GPUS = "CUDA_VISIBLE_DEVICES"
GPUS_OF_SWEEP = "ELMO_BENCH_GPUS_OF_SWEEP"  # the same before a launcher changes it; or all
GROUPS = {
    "run": ("task", "data", "words", "bilm", "elmo", "trainer", "logger", "experiment"),
    "pretrain": ("bilm", "corpus", "pretraining", "task", "data", "trainer", "logger"),
}
USAGE = {
    "run": """Run a task's model with and without ELMo, and compare the two.

  {program} task=ner                           baseline and +ELMo on the mini benchmark
  {program} task=ner elmo=last seed=2          other options and values
  {program} -m task=ner,sst5 seed=1,2,3        a sweep; --dry-run lists its runs
  {program} task=ner --cfg job                 every setting of a run
""",
    "pretrain": """Pretrain a biLM; an interrupted training resumes.

  {program} bilm=mini corpus=mini              the small biLM of the mini benchmark
  {program} bilm=small corpus=text corpus.path='~/text/*.txt'
  {program} bilm=mini --cfg job                every setting
""",
}


def guarded(app: Callable[[], object], name: str, program: str, words: Sequence[str]) -> int:
    """Call a function that Hydra decorated; errors end with one line that says what to do.

    Args:
        app: Reads sys.argv.
        name: The main config in conf/: run or pretrain.
        program: What the user typed, for messages.
        words: The command line after the program's name.
    """
    words = _for_hydra([_at_home(word) for word in words])
    flags = {word.partition("=")[0] for word in words}
    chosen = name == "pretrain" or any(map(_chooses_task, words))
    if HELP_FLAGS & flags and not (name == "run" and chosen):
        print(help_text(name, program))
        return 0
    if not chosen and not INFO_FLAGS & flags:
        print(_task_list(program), file=sys.stderr)
        return 2
    sys.argv = [program.split()[-1], *words]
    _prefer_own_launchers()
    os.environ[GPUS_OF_SWEEP] = os.environ.get(VISIBLE_GPUS, "all")
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # Hydra raises its errors, and we report them
    try:
        app()
    except KeyboardInterrupt as stop:
        return end(program, stop)
    except Exception as error:
        return end(program, _composing_error(error, words, name))
    return 0


def help_text(name: str, program: str) -> str:
    """How to use a program, the tasks, and the options of every group."""
    lines = [USAGE[name].format(program=program)]
    if name == "run":
        lines += ["Tasks:", *_task_lines(), ""]
    lines.append("Groups and their options, chosen as GROUP=OPTION:")
    for group in GROUPS[name]:
        lines.append(f"  {group:12} {', '.join(_options(group))}")
    lines.append("\nAny single value can be set too, such as task.training.batch_size=16.")
    return "\n".join(lines)


def group_options(name: str) -> list[str]:
    """Every GROUP=OPTION of a program."""
    return [f"{group}={option}" for group in GROUPS[name] for option in _options(group)]


def _options(group: str) -> list[str]:
    """The names of a group's options; those in subfolders include the folder."""
    folder = CONF / group
    return sorted(str(p.relative_to(folder).with_suffix("")) for p in folder.rglob("*.yaml"))


def _prefer_own_launchers() -> None:
    """Use conf/hydra/launcher/joblib.yaml instead of the config that the plugin registers.

    Hydra would check one against the other and warn about it, in each process of a sweep.
    """
    from hydra.core.config_store import ConfigStore
    from hydra.core.plugins import Plugins

    Plugins.instance()  # finds the plugins, which register themselves
    registered = ConfigStore.instance().repo["hydra"]["launcher"]
    for path in (CONF / "hydra" / "launcher").glob("*.yaml"):
        registered.pop(path.name, None)


def _at_home(word: str) -> str:
    """`data.dir=~/corpus` with the home folder spelled out: Hydra does not expand ~."""
    key, equals, value = word.partition("=")
    return f"{key}={Path.home()}{value[1:]}" if equals and value.startswith("~/") else word


def _for_hydra(words: list[str]) -> list[str]:
    """The arguments for Hydra: -m first, --dry-run as a key; a dry run needs no launcher."""
    multirun = {"-m", "--multirun"} & set(words)
    words = [*multirun, *(word for word in words if word not in multirun)]
    if "--dry-run" not in words:
        return words
    launching = ("hydra/launcher=", "hydra.launcher.")
    kept = [w for w in words if w != "--dry-run" and not w.lstrip("+").startswith(launching)]
    return [*kept, "dry_run=true"]


def _chooses_task(word: str) -> bool:
    """Whether a word of the command line is a task, or an experiment that names its tasks."""
    group, _, value = word.partition("=")
    experiments = value.split(",") if group == "experiment" else []
    return group == "task" or (bool(experiments) and all(map(_names_task, experiments)))


def _names_task(experiment: str) -> bool:
    """Whether the file of an experiment names tasks, or one that it is based on does."""
    path = CONF / "experiment" / f"{experiment}.yaml"
    if not path.exists():
        return True  # Hydra lists those that exist
    text = path.read_text(encoding="utf-8")
    bases = re.findall(r"^ +- (?!_self_)([\w/]+)$", text, re.MULTILINE)
    return "override /task:" in text or any(map(_names_task, bases))


def _task_list(program: str) -> str:
    return "\n".join(
        [f"Which task? `{program} task=NAME` with one of these names:", *_task_lines()]
    )


def _task_lines() -> list[str]:
    lines = []
    for path in sorted((CONF / "task").glob("*.yaml")):
        text = path.read_text(encoding="utf-8").splitlines()
        title = next((line for line in text if line.startswith("title: ")), "title: ")
        lines.append(f"  {path.stem:6} {title.removeprefix('title: ')}")
    return lines


def _composing_error(error: Exception, words: list[str], name: str) -> Exception:
    """Hydra's error with what exists instead of what was typed; other errors as they are."""
    from hydra.errors import HydraException, MissingConfigException
    from omegaconf.errors import OmegaConfBaseException

    if isinstance(error, MissingConfigException) and error.options and error.missing_cfg_file:
        group, _, option = error.missing_cfg_file.rpartition("/")
        if group == "pretraining" and f"pretraining={option}" not in words:  # the biLM's own
            return ConfigError(cannot_pretrain(option))
        return ConfigError(unknown_option(group, option, list(error.options)))
    if not isinstance(error, HydraException | OmegaConfBaseException):
        return error
    # Of the first paragraphs; then come the search path and the like.
    said = str(error).partition("Config search path")[0]
    return ConfigError("; ".join(_mistyped(words, name)) or said.replace("\n\t", " "))


def _mistyped(words: list[str], name: str) -> list[str]:
    """A line for each override whose key is unknown, with the keys that exist."""
    from hydra.errors import HydraException
    from omegaconf import DictConfig, OmegaConf

    from elmo_bench.config.compose import compose

    overrides = [word for word in words if "=" in word and not word.startswith("-")]
    groups = [w for w in overrides if (CONF / w.partition("=")[0]).is_dir() and "," not in w]
    try:
        cfg = compose(name, groups)
    except HydraException:
        return []  # the option of a group is wrong, and Hydra lists the options itself
    lines = []
    for word in overrides:
        key, _, value = word.lstrip("+~").partition("=")
        key = key.partition("@")[0]
        if key.startswith("hydra") or (CONF / key).is_dir():
            continue
        node, parts = cfg, key.split(".")
        for depth, part in enumerate(parts, start=1):
            known = [str(k) for k in node]
            if part not in known:  # OmegaConf's own `in` denies keys whose value is still ???
                shown = value if depth == len(parts) else None
                lines.append(unknown_key(".".join(parts[:depth]), shown, known))
                break
            below = OmegaConf.select(node, part)
            if not isinstance(below, DictConfig):
                break
            node = below
    return lines
