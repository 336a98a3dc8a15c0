"""The settings in which groups of runs differ."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from elmo_bench.report.groups import Group

DIGEST = re.compile("[0-9a-f]{16,}")


def flatten(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A nested config as dotted keys; lists are values."""
    flat: dict[str, Any] = {}
    for name, value in config.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def differences(groups: Iterable[Group], without: Iterable[str] = ()) -> list[str]:
    """For each group, the settings in which it differs from groups of the same names, or ''.

    Args:
        groups: The groups to tell apart.
        without: Sections of the config that do not matter, nor the names that they give.
    """
    groups, without = list(groups), set(without)
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    flat = [
        flatten({k: value for k, value in group.config.items() if k not in without})
        for group in groups
    ]
    names = [
        tuple(name for name in group.names if "bilm" not in without or name != group.bilm)
        for group in groups
    ]
    for key, values in zip(names, flat, strict=True):
        alike[key].append(values)
    return [
        ", ".join(
            f"{key}={_short(values.get(key))}"
            for key in sorted({key for other in alike[own] for key in other})
            if any(other.get(key) != values.get(key) for other in alike[own])
        )
        for own, values in zip(names, flat, strict=True)
    ]


def _short(value: Any) -> str:
    text = "null" if value is None else str(value)
    if DIGEST.fullmatch(text):
        return text[:8]
    return text if len(text) <= 24 else "…" + text[-23:]
