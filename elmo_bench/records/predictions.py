"""The test predictions stored beside a record: one JSON object per example, gzipped."""

import gzip
import json
import zlib
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from elmo_bench.records.atomic import write_gzip
from elmo_bench.records.labels import Pair
from elmo_bench.records.run import Record

_DECODER = json.JSONDecoder()
_COUNTS = '"counts":'


class Predictions:
    """The test examples of a run, in the order of the split. A line is decoded when accessed."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def __getitem__(self, index: int) -> dict[str, Any]:
        return dict(json.loads(self.lines[index]))

    @property
    def has_text(self) -> bool:
        """Whether the examples can be shown; not after `elmo-bench redact`."""
        return bool(self.lines) and "tokens" in self[0]

    @property
    def labels(self) -> list[dict[str, Pair]]:
        """Gold and predicted labels of each example, by place; {} where none were kept."""
        found = []
        for line in self.lines:
            pairs = json.loads(line).get("labels", {}) if '"labels":' in line else {}
            found.append({place: Pair(*pair) for place, pair in pairs.items()})
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


def read_predictions(record: Record) -> Predictions | None:
    """Read the predictions of a run, beside its record; None if they were not kept."""
    if record.predictions is None or record.file is None:
        return None
    path = record.file.parent / record.predictions
    if not path.is_file():
        return None
    try:
        return Predictions(gzip.decompress(path.read_bytes()).decode("utf-8").splitlines())
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a readable file of predictions ({error})") from error


def redact_text(path: Path) -> None:
    """Keep only what each example contributes to the score: no words of the corpus, no labels."""
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    kept = []
    for line in lines:
        example = json.loads(line)
        kept.append(json.dumps({"id": example["id"], "counts": example["counts"]}) + "\n")
    write_gzip(path, "".join(kept).encode())


def score(counts: np.ndarray) -> np.ndarray:
    """The score in percent of summed counts (..., group, 4): F1, averaged over groups."""
    precision = _ratio(counts[..., 0], counts[..., 1])
    recall = _ratio(counts[..., 2], counts[..., 3])
    return np.asarray(100 * _ratio(2 * precision * recall, precision + recall).mean(axis=-1))


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """A ratio that is 0 where the denominator is 0, as in the official scorers."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 1e-9)
