"""Natural language inference behind the contract of a task."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from elmo_bench.data.example import Example, Skipped, Split
from elmo_bench.data.pairs import paired
from elmo_bench.data.tokenizer import tokenize
from elmo_bench.metrics import accuracy
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Annotation, Counts, Task
from tasks.snli import data
from tasks.snli.model import Esim

BETWEEN = re.compile(r"\t| \|\|\| ")  # premise and hypothesis in text that a person types


class SnliTask(Task):
    """Entailment, neutral or contradiction between a premise and a hypothesis.

    Args:
        hidden_dim: Of each direction of both BiLSTMs, and of the feed-forward layers.
        input_dropout: On the input of both BiLSTMs, variational.
        head_dropout: Before each of the last two layers.
        elmo_attention_dropout: After the attention, in runs with ELMo.
        elmo_weight_l2: L2 on the matrices, in runs with ELMo.
    """

    suffix = "jsonl"

    def __init__(
        self,
        hidden_dim: int,
        input_dropout: float,
        head_dropout: float,
        elmo_attention_dropout: float,
        elmo_weight_l2: float,
    ) -> None:
        self.hidden_dim = hidden_dim
        self.input_dropout = input_dropout
        self.head_dropout = head_dropout
        self.elmo_attention_dropout = elmo_attention_dropout
        self.elmo_weight_l2 = elmo_weight_l2

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
            self.hidden_dim,
            self.input_dropout,
            self.head_dropout,
            attention_dropout=self.elmo_attention_dropout if elmo_dims else 0.0,
            weight_penalty=self.elmo_weight_l2 if elmo_dims else 0.0,
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

    def parse(self, text: str) -> Example:
        segments = tuple(map(tokenize, BETWEEN.split(text)))
        if len(segments) != 2 or not all(segments):
            raise ValueError("type a premise and a hypothesis with a tab or ` ||| ` between them")
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
