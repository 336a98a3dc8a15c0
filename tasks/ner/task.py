"""Named entity recognition as a `Task`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from elmo_bench.data.example import Example, Skipped, Split
from elmo_bench.data.paired_files import paired
from elmo_bench.data.tags import read_spans, to_bioul
from elmo_bench.data.tokenizer import tokenize
from elmo_bench.errors import UserError
from elmo_bench.metrics import score_ner
from elmo_bench.nn.char_cnn import CharCnn
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Annotation, Counts, Task
from elmo_bench.tasks.ner import data
from elmo_bench.tasks.ner.model import Tagger
from elmo_bench.tasks.ner.settings import Settings


class NerTask(Task):
    """Entities as IOB2 tags."""

    suffix = "conll"
    example_text = "Ann Smith moved to New York ."

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]:
        return data.read(path)

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, skipped: Skipped
    ) -> Iterator[Example]:
        return data.from_hub(rows)

    def label_vocabulary(self, train: Sequence[Example]) -> dict[str, Any]:
        return {"tags": sorted({"O", *(t for e in train for t in to_bioul(e.target))})}

    def build_model(
        self,
        words: WordEmbedding,
        elmo_dims: Mapping[str, int],
        label_vocabulary: Mapping[str, Any],
    ) -> nn.Module:
        chars = CharCnn(self.settings.char_dim, self.settings.char_filters)
        return Tagger(
            words,
            chars,
            elmo_dims,
            label_vocabulary["tags"],
            self.settings.hidden_dims,
            self.settings.dropout,
            self.settings.boundary_transitions,
        )

    def gold(self, example: Example) -> list[str]:
        return list(example.target)

    def score(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, float]:
        scores = score_ner([list(example.target) for example in examples], predictions)
        return {name: scores[name] for name in ("precision", "recall", "f1")}

    def counts(self, example: Example, prediction: Any) -> Counts:
        gold, predicted = set(read_spans(example.target)), set(read_spans(prediction))
        correct = len(gold & predicted)
        return [(correct, len(predicted), correct, len(gold))]

    def annotate(self, example: Example, prediction: Any) -> Annotation:
        spans = read_spans(prediction)
        return Annotation(spans=tuple((0, s.start, s.end - 1, s.label) for s in spans))

    def labels(self, example: Example, prediction: Any) -> dict[str, str]:
        return {f"{s.start}-{s.end - 1}": s.label for s in read_spans(prediction)}

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
        read = data.read(gold), data.read(predicted)
        pairs = list(paired(*read, predicted, may_lack=lambda _: partial))
        return score_ner([ours.target for ours, _ in pairs], [theirs.target for _, theirs in pairs])
