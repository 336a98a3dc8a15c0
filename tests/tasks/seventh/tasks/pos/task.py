"""Part-of-speech tagging as a `Task`."""

# Imports are sorted as in a checkout that has elmo_bench.tasks.pos.
# ruff: noqa: I001

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from elmo_bench.data.example import Example, Skipped, Split
from elmo_bench.data.paired_files import paired
from elmo_bench.data.tokenizer import tokenize
from elmo_bench.metrics import accuracy
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Annotation, Counts, Task
from elmo_bench.tasks.pos import data
from elmo_bench.tasks.pos.model import Tagger
from elmo_bench.tasks.pos.settings import Settings


class PosTask(Task):
    """A tag for every word."""

    suffix = "txt"
    example_text = "The old dog sleeps ."

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]:
        return data.read(path)

    def label_vocabulary(self, train: Sequence[Example]) -> dict[str, Any]:
        return {"tags": sorted({tag for example in train for tag in example.target})}

    def build_model(
        self,
        words: WordEmbedding,
        elmo_dims: Mapping[str, int],
        label_vocabulary: Mapping[str, Any],
    ) -> nn.Module:
        return Tagger(
            words,
            elmo_dims.get("input", 0),
            label_vocabulary["tags"],
            self.settings.hidden_dim,
            self.settings.dropout,
        )

    def gold(self, example: Example) -> list[str]:
        return list(example.target)

    def score(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, float]:
        gold = [tag for example in examples for tag in example.target]
        return accuracy(gold, [tag for tags in predictions for tag in tags])

    def counts(self, example: Example, prediction: Any) -> Counts:
        total = len(example.target)
        right = sum(a == b for a, b in zip(example.target, prediction, strict=True))
        return [(right, total, right, total)]

    def annotate(self, example: Example, prediction: Any) -> Annotation:
        return Annotation(spans=tuple((0, n, n, tag) for n, tag in enumerate(prediction)))

    def parse(self, text: str) -> Example:
        tokens = tokenize(text)
        if not tokens:
            raise ValueError("type a sentence")
        return Example("", (tokens,), None)

    def write_predictions(
        self, examples: Sequence[Example], predictions: Sequence[Any], path: Path
    ) -> None:
        data.write(examples, predictions, path)

    def score_files(self, gold: Path, predicted: Path, partial: bool = False) -> dict[str, Any]:
        read = data.read(gold), data.read(predicted)
        pairs = list(paired(*read, predicted, may_lack=lambda _: partial))
        return self.score([ours for ours, _ in pairs], [theirs.target for _, theirs in pairs])
