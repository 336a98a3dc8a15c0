"""The command line that would make a run: what fills a missing cell of a table."""

import re
import shlex
from collections.abc import Mapping
from functools import cache
from typing import Any

from hydra.errors import HydraException

from elmo_bench.config.compose import run_settings
from elmo_bench.config.errors import ConfigError
from elmo_bench.config.folders import CONF
from elmo_bench.records.run import Record
from elmo_bench.report.groups import Group

# Keys that say how and where a run computes, which is for whoever repeats it to choose.
HOW = ("trainer", "logger", "paths", "hydra", "force", "dry_run", "tables", "baseline", "features")
DEFAULTS = {"data": "mini", "words": "random", "bilm": "mini", "elmo": "paper"}  # of conf/run.yaml


def run_command(group: Group, changes: Mapping[str, str]) -> str:
    """The command that repeats the runs of a group with some settings changed.

    Args:
        group: The runs; each record keeps the overrides that it was made with.
        changes: New values by key; another option of a config group replaces what was set in it.
    """
    words = [word for word in base_overrides(group.any_record) if not _is_replaced(word, changes)]
    overlaid = any(word.startswith("experiment=") for word in words)  # may have other defaults
    for key, value in changes.items():
        if overlaid or DEFAULTS.get(key) != value:
            still_open = (w for w in _to_choose(key, value) if w.partition("=")[0] not in changes)
            words += [f"{key}={value}", *still_open]
    seeds = sorted(group.seeds) or [1]
    if seeds != [1]:
        words.append("seed=" + ",".join(map(str, seeds)))
    sweep = ["-m"] if len(seeds) > 1 else []
    return shlex.join(["python", "run.py", *sweep, *words])


def base_overrides(record: Record) -> list[str]:
    """What the command line of a run chose, without seed, baseline and how it computed."""
    if not record.overrides:
        named = {"data": record.data, "words": record.words, "elmo": record.elmo}
        if record.bilm is not None:
            named["bilm"] = record.bilm
        chosen = [f"{k}={v}" for k, v in named.items() if v != DEFAULTS[k] and v in options(k)]
        return [f"task={record.task}", *chosen]
    # The run of a baseline keeps the overrides of the run that it is compared with.
    arm = [] if record.elmo != "none" or "elmo=none" in record.overrides else ["elmo=none"]
    kept = [word for word in record.overrides if not _is_how(word)]
    if arm:
        kept = [word for word in kept if not _is_replaced(word, {"elmo": "none"})]
    return [*kept, *arm]


def has_usual_elmo(record: Record) -> bool:
    """Whether a run has the ELMo settings that its option gives for its task and data."""
    words = [w for w in base_overrides(record) if not re.match(r"\+?(task\.)?elmo\.", w)]
    try:
        usual = _elmo_settings(tuple(words))
    except (ConfigError, HydraException):
        return True  # an option that this version does not have: nothing to compare with
    return all(usual.get(key) == value for key, value in record.config["elmo"].items())


@cache
def _elmo_settings(overrides: tuple[str, ...]) -> dict[str, Any]:
    return run_settings(overrides).elmo.plain()


@cache
def options(group: str) -> list[str]:
    """The options of a config group, by name."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


@cache
def _to_choose(group: str, option: str) -> list[str]:
    """The values that an option leaves open: words.path=PATH of words=glove."""
    path = CONF / group / f"{option}.yaml"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    keys = [line.partition(":")[0] for line in lines if re.match(r"\w+: *\?\?\?", line)]
    return [f"{group}.{key}={key.upper()}" for key in keys]


def _is_replaced(word: str, changes: Mapping[str, str]) -> bool:
    key = word.lstrip("+~").partition("=")[0]
    return any(key == new or ("." not in new and key.startswith(f"{new}.")) for new in changes)


def _is_how(word: str) -> bool:
    key, _, value = word.lstrip("+~").partition("=")
    if key == "experiment":
        return _is_sweep(value)
    return key == "seed" or re.split(r"[./]", key)[0] in HOW


@cache
def _is_sweep(experiment: str) -> bool:
    """Whether an experiment is a whole sweep, whose jobs say all that they are."""
    path = CONF / "experiment" / f"{experiment}.yaml"
    return path.exists() and "MULTIRUN" in path.read_text(encoding="utf-8")
