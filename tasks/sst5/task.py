"""Five-way sentiment behind the contract of a task."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo_bench.data.pairs import paired
from elmo_bench.metrics import accuracy
from elmo_bench.task import Example, Notes, Split, Task
from tasks.sst5 import data


class Sst5Task(Task):
    """Sentiment from 0 (very negative) to 4 (very positive).

    Args:
        min_phrase_length: Shorter phrases are left out of training; null trains on whole
            sentences only.
    """

    def __init__(self, min_phrase_length: int | None) -> None:
        self.min_phrase_length = min_phrase_length

    def read(self, path: Path, split: Split, notes: Notes) -> Iterator[Example]:
        return data.read(path, split, self.min_phrase_length, notes)

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, notes: Notes
    ) -> Iterator[Example]:
        return data.from_hub(rows)

    def score_files(self, gold: Path, predicted: Path) -> dict[str, Any]:
        ours, theirs = (data.read(path, "test", None, Counter()) for path in (gold, predicted))
        pairs = list(paired(ours, theirs, predicted))
        return accuracy([a.target for a, _ in pairs], [b.target for _, b in pairs])
