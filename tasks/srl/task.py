"""Semantic role labeling as a `Task`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from torch import nn

from elmo_bench.data.example import Example, Skipped, Split
from elmo_bench.data.paired_files import paired, same_tokens
from elmo_bench.data.tokenizer import token_offsets
from elmo_bench.errors import UserError
from elmo_bench.metrics import score_srl
from elmo_bench.metrics.srl import join_continuations
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Annotation, Counts, Task
from elmo_bench.tasks.srl import data
from elmo_bench.tasks.srl.conll import write_conll
from elmo_bench.tasks.srl.model import RoleTagger
from elmo_bench.tasks.srl.settings import Settings


class SrlTask(Task):
    """The arguments of a given predicate.

    A prediction is a list of [first token, last token, label], including the predicate's own V.
    """

    suffix = "conll"
    example_text = "The cat *chased* the dog ."

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]:
        return self._not_too_long(
            data.read(path, self.settings.all_predicates, skipped), split, skipped
        )

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, skipped: Skipped
    ) -> Iterator[Example]:
        return self._not_too_long(
            data.from_hub(rows, self.settings.all_predicates, skipped), split, skipped
        )

    def _not_too_long(
        self, examples: Iterable[Example], split: Split, skipped: Skipped
    ) -> Iterator[Example]:
        limit = self.settings.max_length
        for example in examples:
            if split == "train" and len(example.segments[0]) > limit:
                skipped[f"predicates in training sentences of over {limit} words"] += 1
            else:
                yield example

    def label_vocabulary(self, train: Sequence[Example]) -> dict[str, Any]:
        labels = {label for example in train for _, _, label in example.target.arguments}
        return {"labels": sorted(labels)}

    def build_model(
        self,
        words: WordEmbedding,
        elmo_dims: Mapping[str, int],
        label_vocabulary: Mapping[str, Any],
    ) -> nn.Module:
        return RoleTagger(
            words,
            elmo_dims,
            label_vocabulary["labels"],
            self.settings.predicate_dim,
            self.settings.hidden_dim,
            self.settings.num_layers,
            self.settings.dropout,
        )

    def gold(self, example: Example) -> list[list[int | str]]:
        return [list(argument) for argument in example.target.arguments]

    def score(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, float]:
        golds = [self.gold(example) for example in examples]
        return score_srl(_sentences(examples, golds), _sentences(examples, predictions))

    def counts(self, example: Example, prediction: Any) -> Counts:
        gold = join_continuations(example.target.arguments)
        predicted = join_continuations((first, last, label) for first, last, label in prediction)
        correct = len(gold & predicted)
        return [(correct, len(predicted), correct, len(gold))]

    def annotate(self, example: Example, prediction: Any) -> Annotation:
        return Annotation(spans=tuple((0, first, last, label) for first, last, label in prediction))

    def labels(self, example: Example, prediction: Any) -> dict[str, str]:
        """Arguments by their pieces, as the metric counts them."""
        arguments = join_continuations((first, last, label) for first, last, label in prediction)
        return {"+".join(f"{a}-{b}" for a, b in pieces): label for label, pieces in arguments}

    def parse(self, text: str) -> Example:
        """Parse a sentence whose predicate is between asterisks: The cat *chased* the dog."""
        stars = [index for index, char in enumerate(text) if char == "*"]
        tokens = token_offsets(text.replace("*", " "))
        inside = [n for n, (start, _) in enumerate(tokens) if stars[:1] < [start] < stars[1:]]
        if len(stars) != 2 or len(inside) != 1:
            raise UserError(
                "put one word, the predicate, between asterisks: The cat *chased* the dog."
            )
        words = tuple(text[start:end] for start, end in tokens)
        return Example("", (words,), data.SrlTarget(predicate=inside[0], arguments=()))

    def write_predictions(
        self, examples: Sequence[Example], predictions: Sequence[Any], path: Path
    ) -> None:
        write_conll(examples, predictions, path)

    def score_files(self, gold: Path, predicted: Path, partial: bool = False) -> dict[str, Any]:
        """Score every proposition that the gold file has, whatever `all_predicates` says.

        With `partial`, only those whose predicates the prediction file has, such as verbs. In
        either case, it may leave out sentences without predicates.
        """
        read = data.read_sentences(gold), data.read_sentences(predicted)
        pairs = list(
            paired(*read, predicted, lambda ours: partial or not ours.target, _same_sentence)
        )
        return score_srl(
            [_for_metric(ours, _predicates(theirs) if partial else None) for ours, theirs in pairs],
            [_for_metric(theirs) for _, theirs in pairs],
        )


def _sentences(examples: Sequence[Example], found: Sequence[Any]) -> list[dict[str, Any]]:
    """Group examples, one per predicate, back into sentences."""
    propositions = [
        (example.id.rpartition(":")[0], example.target.predicate, example.segments[0], arguments)
        for example, arguments in zip(examples, found, strict=True)
    ]
    propositions.sort(key=lambda one: one[:2])
    return [
        {
            "words": group[0][2],
            "propositions": [
                {"predicate": predicate, "args": arguments} for _, predicate, _, arguments in group
            ],
        }
        for group in (list(items) for _, items in groupby(propositions, key=lambda one: one[0]))
    ]


def _predicates(sentence: Example) -> set[int]:
    return {target.predicate for target in sentence.target}


def _same_sentence(gold: Example, predicted: Example) -> bool:
    """Whether tokens and predicates fit: a sentence may occur again with other predicates."""
    return same_tokens(gold, predicted) and _predicates(predicted) <= _predicates(gold)


def _for_metric(sentence: Example, predicates: set[int] | None = None) -> dict[str, Any]:
    return {
        "words": sentence.segments[0],
        "propositions": [
            {"predicate": target.predicate, "args": target.arguments}
            for target in sentence.target
            if predicates is None or target.predicate in predicates
        ],
    }
