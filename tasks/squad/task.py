"""Question answering behind the contract of a task."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo_bench.data.files import DataError, read_json
from elmo_bench.metrics import score_squad
from elmo_bench.task import Example, Notes, Split, Task
from tasks.squad import data


class SquadTask(Task):
    """A span of a paragraph that answers a question.

    Args:
        articles: A JSON file {split: [titles]} that cuts one file into splits, if not null.
    """

    def __init__(self, articles: str | None) -> None:
        self.articles = articles

    def read(self, path: Path, split: Split, notes: Notes) -> Iterator[Example]:
        return data.read(path, split, self.articles, notes)

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, notes: Notes
    ) -> Iterator[Example]:
        return data.from_hub(rows, notes)

    def score_files(self, gold: Path, predicted: Path) -> dict[str, Any]:
        predictions = read_json(predicted)
        if not isinstance(predictions, dict):
            raise DataError(predicted, None, "not a JSON object {question id: answer}")
        return score_squad(data.read_references(gold), predictions)
