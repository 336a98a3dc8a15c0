"""What every metric checks of its input before it counts anything."""

from collections.abc import Mapping, Sequence
from typing import Any


def check_same_length(gold: Sequence[Any], pred: Sequence[Any], unit: str, place: str = "") -> None:
    """Refuse two sides that cannot be compared one to one; `place` starts the message."""
    if len(gold) != len(pred):
        prefix = f"{place}: " if place else ""
        raise ValueError(f"{prefix}gold has {len(gold)} {unit} but pred has {len(pred)}")


def field(record: Mapping[str, Any], key: str, place: str) -> Any:
    """One entry of a record that has to have it."""
    if key not in record:
        raise ValueError(f"{place} has no {key!r}, only {sorted(record)}")
    return record[key]
