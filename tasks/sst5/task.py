"""Five-way sentiment behind the contract of a task."""

from collections import Counter
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
from tasks.sst5 import data
from tasks.sst5.model import BiattentiveNetwork

NEUTRAL = 2


class Sst5Task(Task):
    """Sentiment from 0 (very negative) to 4 (very positive).

    Args:
        min_phrase_length: Shorter phrases are left out of training; null trains on whole
            sentences only.
        hidden_dim: Of the feed-forward layer and of each direction of both BiLSTMs.
        embedding_dropout: On the word vectors.
        feedforward_dropout: On the input of the first BiLSTM.
        head: `relu` or `maxout`.
        head_dims: Sizes of the head's hidden layers.
        head_dropout: Before each layer of the head, the last one included.
    """

    suffix = "txt"

    def __init__(
        self,
        min_phrase_length: int | None,
        hidden_dim: int,
        embedding_dropout: float,
        feedforward_dropout: float,
        head: str,
        head_dims: Sequence[int],
        head_dropout: Sequence[float],
    ) -> None:
        self.min_phrase_length = min_phrase_length
        self.hidden_dim = hidden_dim
        self.embedding_dropout = embedding_dropout
        self.feedforward_dropout = feedforward_dropout
        self.head = head
        self.head_dims = head_dims
        self.head_dropout = head_dropout

    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]:
        return data.read(path, split, self.min_phrase_length, skipped)

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, skipped: Skipped
    ) -> Iterator[Example]:
        return data.from_hub(rows)

    def build_model(
        self,
        words: WordEmbedding,
        elmo_dims: Mapping[str, int],
        label_vocabulary: Mapping[str, Any],
    ) -> nn.Module:
        return BiattentiveNetwork(
            words,
            elmo_dims,
            self.hidden_dim,
            self.embedding_dropout,
            self.feedforward_dropout,
            self.head,
            self.head_dims,
            self.head_dropout,
        )

    def gold(self, example: Example) -> int:
        label: int = example.target
        return label

    def score(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, float]:
        """Accuracy, and as `binary` that of the polarity alone, as CoreNLP counts it.

        Neutral sentences are left out of it, labels 0 and 1 are one class, 3 and 4 the other; a
        sentence that is not neutral but predicted so counts as wrong.
        """
        gold = [example.target for example in examples]
        polar = [(g, p) for g, p in zip(gold, predictions, strict=True) if g != NEUTRAL]
        scores = accuracy(gold, predictions)
        if polar:
            signs = [[_sign(label) for label in labels] for labels in zip(*polar, strict=True)]
            scores["binary"] = accuracy(*signs)["accuracy"]
        return scores

    def counts(self, example: Example, prediction: Any) -> Counts:
        right = float(prediction == example.target)
        return [(right, 1, right, 1)]

    def annotate(self, example: Example, prediction: Any) -> Annotation:
        return Annotation(label=data.LABELS[prediction])

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
        ours, theirs = (data.read(path, "test", None, Counter()) for path in (gold, predicted))
        pairs = list(paired(ours, theirs, predicted, may_lack=lambda _: partial))
        return self.score([a for a, _ in pairs], [b.target for _, b in pairs])


def _sign(label: int) -> int:
    return (label > NEUTRAL) - (label < NEUTRAL)
