"""Natural language inference as a `Task`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from elmo_bench.data.example import Example, Skipped, Split
from elmo_bench.data.paired_files import paired
from elmo_bench.data.tokenizer import tokenize
from elmo_bench.errors import UserError
from elmo_bench.metrics import accuracy
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Annotation, Counts, Task
from elmo_bench.tasks.snli import data
from elmo_bench.tasks.snli.model import Esim
from elmo_bench.tasks.snli.settings import Settings

SEPARATOR = re.compile(r"\t| \|\|\| ")  # between premise and hypothesis in text that a user types


class SnliTask(Task):
    """Entailment, neutral or contradiction between a premise and a hypothesis."""

    suffix = "jsonl"
    example_text = "A man sleeps . ||| A person is awake ."

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]:
        return data.read(path, skipped)

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, skipped: Skipped
    ) -> Iterator[Example]:
        return data.from_hub(rows, skipped)

    def build_model(
        self,
        words: WordEmbedding,
        elmo_dims: Mapping[str, int],
        label_vocabulary: Mapping[str, Any],
    ) -> nn.Module:
        return Esim(
            words,
            elmo_dims,
            self.settings.hidden_dim,
            self.settings.input_dropout,
            self.settings.head_dropout,
            attention_dropout=self.settings.elmo_attention_dropout if elmo_dims else 0.0,
            weight_penalty=self.settings.elmo_weight_l2 if elmo_dims else 0.0,
        )

    def gold(self, example: Example) -> str:
        label: str = example.target
        return label

    def score(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, float]:
        return accuracy([example.target for example in examples], predictions)

    def counts(self, example: Example, prediction: Any) -> Counts:
        right = float(prediction == example.target)
        return [(right, 1, right, 1)]

    def annotate(self, example: Example, prediction: Any) -> Annotation:
        return Annotation(label=prediction)

    def labels(self, example: Example, prediction: Any) -> dict[str, str]:
        return {"pair": prediction}

    def parse(self, text: str) -> Example:
        segments = tuple(map(tokenize, SEPARATOR.split(text)))
        if len(segments) != 2 or not all(segments):
            raise UserError("type a premise and a hypothesis separated by a tab or ` ||| `")
        return Example("", segments, None)

    def write_predictions(
        self, examples: Sequence[Example], predictions: Sequence[Any], path: Path
    ) -> None:
        data.write(examples, predictions, path)

    def score_files(self, gold: Path, predicted: Path, partial: bool = False) -> dict[str, Any]:
        """Score the pairs that have a gold label; a prediction file may leave the others out."""
        read = data.read_pairs(gold), data.read_pairs(predicted)
        pairs = [
            (ours.target, theirs.target)
            for ours, theirs in paired(
                *read, predicted, may_lack=lambda ours: partial or not data.usable(ours)
            )
            if ours.target != data.NO_LABEL
        ]
        return accuracy([ours for ours, _ in pairs], [theirs for _, theirs in pairs])
