"""The command line that would make a run: what fills a missing cell of a table."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from omegaconf import OmegaConf

from elmo_bench.config.compose import CONF, read_option
from elmo_bench.report.groups import ELMO_KEYS, flatten

GROUPS = ("data", "words", "elmo", "bilm")
NO_ELMO: dict[str, Any] = {"name": "none", "placement": []}
OPTIMIZER = "task.training.optimizer."
ABSENT = object()


def run_command(config: Mapping[str, Any], seeds: Iterable[int] = (1,)) -> str:
    """The command that computes a config (without a seed) for some seeds.

    Options that conf/run.yaml chooses anyway are left out, and so are values that the chosen
    yaml files have already.
    """
    options = {name: config[name]["name"] for name in ("task", *GROUPS) if name in config}
    if options["data"] not in options_of("data"):  # files that were given a name of their own
        options["data"] = "files"
    defaults = default_options()
    words = [f"{k}={v}" for k, v in options.items() if defaults.get(k) != v]
    composed = _composed(**options)
    usual = flatten(composed or {})
    usual |= {f"{name}.name": option for name, option in options.items()}
    given = flatten({k: v for k, v in config.items() if k != "fingerprint"})
    for key, value in given.items():
        if value != "???" and usual.get(key, ABSENT) == value:
            continue
        if composed is None or key in usual:
            words.append(f"{key}={_hydra_value(value, key)}")
        elif f"{key.rpartition('.')[0]}._target_" in usual:  # an option that no yaml names
            words.append(f"+{key}={_hydra_value(value, key)}")
    # Another optimizer than the task's own lacks some of its options.
    words += [f"~{k}" for k in usual if k.startswith(OPTIMIZER) and k not in given]
    seeds = sorted(seeds) or [1]
    if seeds != [1]:
        words.append("seed=" + ",".join(map(str, seeds)))
    sweep = ["-m"] if len(seeds) > 1 else []
    return shlex.join(["python", "run.py", *sweep, *words])


def with_elmo(config: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """A config with other ELMo settings; a baseline's gets the usual ones and biLM first."""
    changed = {key: value for key, value in config.items() if key != "fingerprint"}
    if config["elmo"]["name"] == "none":
        options = default_options() | {k: config[k]["name"] for k in ("task", "data", "words")}
        options["elmo"] = changes.get("name", options["elmo"])
        usual = _composed(**options) or {k: {"name": options[k]} for k in ("elmo", "bilm")}
        changed |= {key: usual[key] for key in ("elmo", "bilm", "cache_dtype") if key in usual}
    changed["elmo"] = {**changed["elmo"], **changes}
    return changed


def without_elmo(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config of a run's baseline; word vectors of a biLM's text keep the biLM."""
    kept = {key: value for key, value in config.items() if key not in ELMO_KEYS}
    if config["words"]["name"] == "corpus" and "bilm" in config:
        kept["bilm"] = config["bilm"]
    return kept | {"elmo": NO_ELMO}


def with_words(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A config with another option of static words, as its yaml has it."""
    kept = {key: value for key, value in config.items() if key != "fingerprint"}
    return {**kept, "words": _yaml(f"words/{name}")}


@cache
def default_options() -> dict[str, str]:
    """The options that conf/run.yaml chooses."""
    entries: Any = OmegaConf.to_container(OmegaConf.load(CONF / "run.yaml"))
    chosen = {
        group: option
        for entry in entries["defaults"]
        if entry != "_self_"
        for group, option in entry.items()
    }
    return {group: option for group, option in chosen.items() if group in GROUPS}


@cache
def usual_elmo(task: str, data: str) -> dict[str, Any]:
    """The ELMo settings that a task's yaml has, and the yaml of its size for some data."""
    names = (f"task/{task}", f"size/{data}/{task}")
    found = [_yaml(name) for name in names if (CONF / f"{name}.yaml").is_file()]
    return {key: value for values in found for key, value in values.get("elmo", {}).items()}


def options_of(group: str) -> list[str]:
    """The options of a config group, by name."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def _composed(**options: str) -> dict[str, Any] | None:
    """What the yaml files give for some options, with ??? where a value must be chosen.

    Hydra's own composing takes a tenth of a second, too long for a table full of gaps; that this
    comes to the same is tested. None for options that this checkout lacks.
    """
    try:
        config = {group: _yaml(f"{group}/{option}") for group, option in options.items()}
    except FileNotFoundError:
        return None
    size = f"size/{options['data']}/{options['task']}"
    if (CONF / f"{size}.yaml").is_file():
        config["task"] = _merged(config["task"], _yaml(size))
    config["cache_dtype"] = _yaml("run")["cache_dtype"]
    return {name: _resolved(values, config) for name, values in config.items()}


@cache
def _yaml(name: str) -> Any:
    return OmegaConf.to_container(read_option(CONF / f"{name}.yaml"))


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    both = {
        key: _merged(below[key], value)
        for key, value in above.items()
        if isinstance(value, dict) and isinstance(below.get(key), dict)
    }
    return {**below, **above, **both}


def _resolved(value: Any, config: Mapping[str, Any]) -> Any:
    """A value with ${task.elmo.placement} and the like put in."""
    if isinstance(value, dict):
        return {key: _resolved(below, config) for key, below in value.items()}
    reference = re.fullmatch(r"\$\{([\w.]+)\}", value) if isinstance(value, str) else None
    if reference is None:
        return value
    found: Any = config
    for part in reference.group(1).split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return _resolved(found, config)


def _hydra_value(value: Any, key: str) -> str:
    """A value in the grammar of Hydra's command line."""
    if value == "???":
        return key.rpartition(".")[2].upper()
    if value is None or isinstance(value, bool | int | float | list | dict):
        return json.dumps(value).replace('"', "").replace(", ", ",").replace(": ", ":")
    text = str(value)
    return text if re.fullmatch(r"[\w./+@%-]+", text) else json.dumps(text, ensure_ascii=False)
