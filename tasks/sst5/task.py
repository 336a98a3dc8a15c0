"""Five-way sentiment classification as a `Task`."""

from collections import Counter
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
from elmo_bench.tasks.sst5 import data
from elmo_bench.tasks.sst5.model import BiattentiveNetwork
from elmo_bench.tasks.sst5.settings import Settings

NEUTRAL = 2


class Sst5Task(Task):
    """Sentiment from 0 (very negative) to 4 (very positive)."""

    suffix = "txt"
    example_text = "A warm and funny film ."

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]:
        return data.read(path, split, self.settings.min_phrase_length, skipped)

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
            self.settings.hidden_dim,
            self.settings.elmo_embedding_dropout if elmo_dims else self.settings.embedding_dropout,
            self.settings.feedforward_dropout,
            self.settings.elmo_output,
            self.settings.head,
            self.settings.head_dims,
            self.settings.head_dropout,
        )

    def gold(self, example: Example) -> int:
        label: int = example.target
        return label

    def score(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, float]:
        """Return the accuracy, and as `binary` the accuracy of the polarity as in CoreNLP.

        `binary` leaves out neutral sentences; labels 0 and 1 are one class, 3 and 4 the other; a
        sentence that is wrongly predicted as neutral counts as an error.
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

    def labels(self, example: Example, prediction: Any) -> dict[str, str]:
        return {"sentence": data.LABELS[prediction]}

    def parse(self, text: str) -> Example:
        tokens = tokenize(text)
        if not tokens:
            raise UserError("type a sentence")
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
