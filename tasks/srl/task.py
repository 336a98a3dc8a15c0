"""Semantic role labelling behind the contract of a task."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo_bench.data.pairs import paired
from elmo_bench.example import Example, Notes, Split
from elmo_bench.metrics import score_srl
from elmo_bench.task import Task
from tasks.srl import data


class SrlTask(Task):
    """The arguments of a predicate that is given.

    Args:
        all_predicates: Whether nouns and adjectives are predicates too, or verbs alone.
    """

    def __init__(self, all_predicates: bool) -> None:
        self.all_predicates = all_predicates

    def read(self, path: Path, split: Split, notes: Notes) -> Iterator[Example]:
        return data.read(path, self.all_predicates, notes)

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, notes: Notes
    ) -> Iterator[Example]:
        return data.from_hub(rows, self.all_predicates, notes)

    def score_files(self, gold: Path, predicted: Path) -> dict[str, Any]:
        """Score every proposition that the gold file has, whatever `all_predicates` says."""
        pairs = list(paired(data.read_sentences(gold), data.read_sentences(predicted), predicted))
        return score_srl(
            [_for_metric(ours) for ours, _ in pairs], [_for_metric(theirs) for _, theirs in pairs]
        )


def _for_metric(sentence: Example) -> dict[str, Any]:
    return {
        "words": sentence.segments[0],
        "propositions": [
            {"predicate": target.predicate, "args": target.arguments} for target in sentence.target
        ],
    }
