"""The test predictions beside a record: one JSON object per example, gzipped."""

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from elmo_bench.records import Record

_DECODER = json.JSONDecoder()
_COUNTS = '"counts":'


def read_predictions(record: Record, directory: Path) -> list[dict[str, Any]] | None:
    """The test examples of a run in split order; None where they were not kept."""
    lines = _lines(record, directory)
    return None if lines is None else [json.loads(line) for line in lines]


def read_counts(record: Record, directory: Path) -> np.ndarray | None:
    """What each test example adds to the score, as (example, group, 4).

    Only the counts are decoded, the tokens are passed over: that is most of the time. The key
    cannot be met inside a string, where its quotes would be escaped.
    """
    lines = _lines(record, directory)
    if lines is None:
        return None
    counts = []
    for line in lines:
        start = line.index(_COUNTS) + len(_COUNTS)
        while line[start] == " ":
            start += 1
        counts.append(_DECODER.raw_decode(line, start)[0])
    return np.asarray(counts, dtype=np.float64)


def score(counts: np.ndarray) -> np.ndarray:
    """The score in percent of sums of counts (..., group, 4): the mean over groups of F1."""
    precision = _ratio(counts[..., 0], counts[..., 1])
    recall = _ratio(counts[..., 2], counts[..., 3])
    return 100 * _ratio(2 * precision * recall, precision + recall).mean(axis=-1)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """A ratio that is 0 where there is nothing to divide by, as the official scorers have it."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 1e-9)


def _lines(record: Record, directory: Path) -> list[str] | None:
    if record.predictions is None:
        return None
    path = directory / record.predictions
    if not path.is_file():
        return None
    try:
        return gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a readable file of predictions ({error})") from error
