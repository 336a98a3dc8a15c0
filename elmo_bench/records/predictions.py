"""The test predictions stored beside a record: one JSON object per example, gzipped."""

import json
import logging
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from elmo_bench.errors import UserError
from elmo_bench.records.atomic import write_gzip
from elmo_bench.records.labels import Pair
from elmo_bench.records.reading import checked, parse_json, read_bytes, reading
from elmo_bench.records.run import Record

_DECODER = json.JSONDecoder()
_COUNTS = '"counts":'
log = logging.getLogger(__name__)


class _Marks(BaseModel):
    label: str | int | None = None
    spans: list[tuple[int, int, int, str]] = []


class _Example(BaseModel):
    """What pages show of an example; there is none of it after `elmo-bench redact`."""

    id: str
    tokens: list[list[str]] = []
    gold: _Marks = _Marks()
    predicted: _Marks = _Marks()


class _Labels(BaseModel):
    labels: dict[str, tuple[str, str]] = {}


class Predictions:
    """The test examples of a run, in the order of the split. A line is decoded when accessed."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def __getitem__(self, index: int) -> dict[str, Any]:
        place = f"line {index + 1} of predictions"
        content = parse_json(self.lines[index], place)
        checked(_Example, content, place)
        return dict(content)

    @property
    def has_text(self) -> bool:
        """Whether the examples can be shown; not after `elmo-bench redact`."""
        return bool(self.lines) and "tokens" in self[0]

    @property
    def labels(self) -> list[dict[str, Pair]]:
        """Gold and predicted labels of each example, by place; {} where none were kept."""
        found = []
        for number, line in enumerate(self.lines, start=1):
            place = f"line {number} of predictions"
            content = parse_json(line, place) if '"labels":' in line else {}
            pairs = checked(_Labels, content, place).labels
            found.append({where: Pair(*pair) for where, pair in pairs.items()})
        return found

    @cached_property
    def counts(self) -> np.ndarray:
        """What each example contributes to the score, as (example, group, 4).

        Only the counts are decoded: decoding the tokens would take most of the time. The key
        cannot occur inside a string, where its quotes would be escaped.
        """
        counts = []
        for line in self.lines:
            start = line.index(_COUNTS) + len(_COUNTS)
            start += len(line[start : start + 8]) - len(line[start : start + 8].lstrip())
            counts.append(_DECODER.raw_decode(line, start)[0])
        return np.asarray(counts, dtype=np.float64)

    def check(self) -> None:
        """Raise unless every example has the same number of counts."""
        if self.counts.ndim != 3 or self.counts.shape[2] != 4 or not np.isfinite(self.counts).all():
            raise UserError(f"counts of shape {self.counts.shape}, not (example, group, 4)")


def read_predictions(record: Record) -> Predictions | None:
    """Read the predictions of a run; None if they were not kept, or with a warning if damaged."""
    if record.predictions is None or record.file is None:
        return None
    path = record.file.parent / Path(record.predictions).name  # beside it, whatever the path says
    if not path.is_file():
        return None
    try:
        predictions = Predictions(_lines(path))
        with reading(path):
            predictions.check()
    except UserError as error:
        log.warning("skipped damaged predictions: %s", error)
        return None
    return predictions


def _lines(path: Path) -> list[str]:
    with reading(path):
        return read_bytes(path).decode("utf-8").splitlines()


def redact_text(path: Path, target: Path | None = None) -> None:
    """Keep only what each example contributes to the score: no words of the corpus, no labels.

    Args:
        path: The predictions.
        target: Where the rest is written; None for the same file.
    """
    kept = []
    with reading(path):
        for line in _lines(path):
            example = json.loads(line)
            kept.append(json.dumps({"id": example["id"], "counts": example["counts"]}) + "\n")
    target = target or path
    target.parent.mkdir(parents=True, exist_ok=True)
    write_gzip(target, "".join(kept).encode())


def score(counts: np.ndarray) -> np.ndarray:
    """The score in percent of summed counts (..., group, 4): F1, averaged over groups."""
    precision = _ratio(counts[..., 0], counts[..., 1])
    recall = _ratio(counts[..., 2], counts[..., 3])
    return np.asarray(100 * _ratio(2 * precision * recall, precision + recall).mean(axis=-1))


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """A ratio that is 0 where the denominator is 0, as in the official scorers."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 1e-9)
