"""Coreference resolution behind the contract of a task."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo_bench.data.files import DataError
from elmo_bench.data.pairs import check_same_tokens
from elmo_bench.example import Example, Notes, Split
from elmo_bench.metrics import score_coref
from elmo_bench.task import Task
from tasks.coref import data


class CorefTask(Task):
    """Clusters of mentions in a document."""

    def read(self, path: Path, split: Split, notes: Notes) -> Iterator[Example]:
        return data.read(path, notes)

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, notes: Notes
    ) -> Iterator[Example]:
        return data.from_hub(rows, notes)

    def score_files(self, gold: Path, predicted: Path) -> dict[str, Any]:
        """Score the same documents in both files, in whatever order."""
        # A predicted mention may be in two clusters: the scorer has rules of its own for that.
        found = {example.id: example for example in data.read(predicted, None)}
        documents = []
        for ours in data.read(gold, Counter()):
            if ours.id not in found:
                raise DataError(predicted, None, f"has no document {ours.id}, which gold has")
            theirs = found.pop(ours.id)
            check_same_tokens(ours, theirs, predicted)
            documents.append(
                {
                    "sentences": ours.segments,
                    "gold": ours.target.clusters,
                    "pred": theirs.target.clusters,
                }
            )
        if found:
            raise DataError(predicted, None, f"gold has no document {min(found)}")
        return score_coref(documents)
