"""Errors of a config: one line with the key, the value, and what is allowed."""

import difflib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from elmo_bench.config.folders import options
from elmo_bench.errors import UserError


class ConfigError(UserError):
    """A config that cannot be run; names the key, the value and what is allowed."""


def explain(error: ValidationError, values: Mapping[str, Any], prefix: str = "") -> ConfigError:
    """Turn the first problem that pydantic found into a one-line message.

    Args:
        error: What pydantic raised.
        values: What was validated.
        prefix: The key under which `values` are.
    """
    # An unknown key often causes the other problems: report it first.
    problems = sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    return ConfigError(_line(problems[0], values, prefix))


def unknown_key(key: str, value: Any, siblings: list[str]) -> str:
    """Say that a key does not exist, and which ones do in its group."""
    parent, _, name = key.rpartition(".")
    close = difflib.get_close_matches(name, siblings, n=1)
    hint = f"; did you mean {parent + '.' if parent else ''}{close[0]}?" if close else "."
    shown = "" if value is None or isinstance(value, Mapping) else f"={_shown(value)}"
    group = f"under {parent}" if parent else "at the top level"
    known = ", ".join(sorted(siblings))
    return f"{key}{shown}: the key is unknown{hint} Allowed {group}: {known}"


def unknown_option(group: str, option: str, options: list[str]) -> str:
    """Say that a config group has no such option, and which ones it has."""
    close = difflib.get_close_matches(option, options, n=1)
    hint = f"; did you mean {group}={close[0]}?" if close else "."
    return f"{group}={option}: the option is unknown{hint} Allowed: {', '.join(sorted(options))}"


def cannot_pretrain(bilm: str) -> str:
    """Say that there is no recipe to pretrain an encoder, how to use it, and what has a recipe."""
    own = " bilm.weights=FOLDER_OR_HUB_ID" if bilm == "transformer" else ""
    known = [name for name in options("bilm") if name in options("pretraining")]
    return (
        f"bilm={bilm} cannot be pretrained here: it comes pretrained, and python run.py task=NAME "
        f"bilm={bilm}{own} uses it. To pretrain a biLM, choose bilm={', '.join(known)}"
    )


def _line(problem: ErrorDetails, values: Mapping[str, Any], prefix: str) -> str:
    path, node = _path(problem, values)
    key = ".".join([*filter(None, [prefix]), *map(str, path)])
    if problem["type"] == "extra_forbidden":
        known = [str(k) for k in node if k != path[-1]] if isinstance(node, Mapping) else []
        return unknown_key(key, problem["input"], known)
    if problem["type"] == "missing":
        return f"{key}: a value is missing; give {key}=..."
    if problem["type"] == "union_tag_invalid":
        tag, allowed = problem["ctx"]["tag"], problem["ctx"]["expected_tags"]
        discriminator = problem["ctx"]["discriminator"].strip("'")
        return f"{key}.{discriminator}={tag}: must be one of {allowed}"
    if problem["type"] == "value_error":  # raised by our own validators
        cause = problem["ctx"]["error"]
        if isinstance(
            cause, ValidationError
        ):  # settings that depend on a value, such as task.build
            return str(explain(cause, problem["input"], key))
        words = str(cause)
        if isinstance(problem["input"], Mapping):  # the message names the keys
            return f"{key}: {words}" if key and not words.startswith(key) else words
        return f"{key}={_shown(problem['input'])}: {words}"
    words = problem["msg"].replace("Input should be", "must be")
    words = words.replace("a valid integer", "a whole number").replace("a valid ", "a ")
    return f"{key}={_shown(problem['input'])}: {words}"


def _path(problem: ErrorDetails, values: Mapping[str, Any]) -> tuple[list[str | int], Any]:
    """The key as in the yaml, and the mapping that it is in; pydantic adds names of variants."""
    path: list[str | int] = []
    node: Any = values
    last = len(problem["loc"]) - 1
    for depth, part in enumerate(problem["loc"]):
        if isinstance(node, Mapping):
            known = part in node or (depth == last and problem["type"] == "missing")
        else:
            known = isinstance(node, list) and part in range(len(node))
        if not known:
            continue
        path.append(part)
        below = node.get(part) if isinstance(node, Mapping) else node[part]
        if depth < last and isinstance(below, Mapping | list):
            node = below
    return path, node


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
