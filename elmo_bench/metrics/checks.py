"""Input checks shared by the metrics."""

from collections.abc import Mapping, Sequence
from typing import Any

from elmo_bench.errors import UserError


def check_same_length(gold: Sequence[Any], pred: Sequence[Any], unit: str, place: str = "") -> None:
    """Raise unless gold and pred have the same length; `place` starts the error message."""
    if len(gold) != len(pred):
        prefix = f"{place}: " if place else ""
        raise UserError(f"{prefix}gold has {len(gold)} {unit} but pred has {len(pred)}")


def field(record: Mapping[str, Any], key: str, place: str) -> Any:
    """Return a required entry of a record."""
    if key not in record:
        raise UserError(f"{place} has no {key!r}, only {sorted(record)}")
    return record[key]
