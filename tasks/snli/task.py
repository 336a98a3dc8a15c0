"""Natural language inference behind the contract of a task."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo_bench.data.pairs import paired
from elmo_bench.metrics import accuracy
from elmo_bench.task import Example, Notes, Split, Task
from tasks.snli import data


class SnliTask(Task):
    """Entailment, neutral or contradiction between a premise and a hypothesis."""

    def read(self, path: Path, split: Split, notes: Notes) -> Iterator[Example]:
        return data.read(path, notes)

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, notes: Notes
    ) -> Iterator[Example]:
        return data.from_hub(rows, notes)

    def score_files(self, gold: Path, predicted: Path) -> dict[str, Any]:
        pairs = [
            (ours.target, theirs.target)
            for ours, theirs in paired(data.read_pairs(gold), data.read_pairs(predicted), predicted)
            if ours.target != data.NO_LABEL
        ]
        return accuracy([ours for ours, _ in pairs], [theirs for _, theirs in pairs])
