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


def differences(groups: Iterable[Group]) -> list[str]:
    """For each group, the settings in which it differs from groups of the same names, or ''."""
    groups = list(groups)
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    flat = [flatten(group.config) for group in groups]
    for group, values in zip(groups, flat, strict=True):
        alike[group.names].append(values)
    return [
        ", ".join(
            f"{key}={_short(values.get(key))}"
            for key in sorted({key for other in alike[group.names] for key in other})
            if any(other.get(key) != values.get(key) for other in alike[group.names])
        )
        for group, values in zip(groups, flat, strict=True)
    ]


def _short(value: Any) -> str:
    text = "null" if value is None else str(value)
    if DIGEST.fullmatch(text):
        return text[:8]
    return text if len(text) <= 24 else "…" + text[-23:]
