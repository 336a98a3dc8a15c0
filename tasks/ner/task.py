"""Named entity recognition behind the contract of a task."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo_bench.data.pairs import paired
from elmo_bench.metrics import score_ner
from elmo_bench.task import Example, Notes, Split, Task
from tasks.ner import data


class NerTask(Task):
    """Entities as IOB2 tags."""

    def read(self, path: Path, split: Split, notes: Notes) -> Iterator[Example]:
        return data.read(path)

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, notes: Notes
    ) -> Iterator[Example]:
        return data.from_hub(rows)

    def score_files(self, gold: Path, predicted: Path) -> dict[str, Any]:
        pairs = list(paired(data.read(gold), data.read(predicted), predicted))
        return score_ner([ours.target for ours, _ in pairs], [theirs.target for _, theirs in pairs])
