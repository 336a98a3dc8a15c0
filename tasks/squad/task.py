"""Question answering as a `Task`."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from elmo_bench.data.example import Example, Skipped, Split
from elmo_bench.data.files import DataError, read_json
from elmo_bench.metrics import score_squad
from elmo_bench.nn.char_cnn import CharCnn
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Annotation, Counts, Task
from elmo_bench.tasks.squad import data
from elmo_bench.tasks.squad.model import Reader
from elmo_bench.tasks.squad.settings import Settings


class SquadTask(Task):
    """A span of a paragraph that answers a question; predictions are first and last token."""

    suffix = "json"
    example_text = "Ann lives in York . ||| Where does Ann live ?"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]:
        examples = data.read(path, split, self.settings.articles, skipped)
        return self._shortened(examples, split, skipped)

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, skipped: Skipped
    ) -> Iterator[Example]:
        return self._shortened(data.from_hub(rows, split, skipped), split, skipped)

    def build_model(
        self,
        words: WordEmbedding,
        elmo_dims: Mapping[str, int],
        label_vocabulary: Mapping[str, Any],
    ) -> nn.Module:
        chars = CharCnn(
            self.settings.char_dim,
            self.settings.char_filters,
            self.settings.max_chars,
            None,
            self.settings.dropout,
        )
        return Reader(
            words,
            chars,
            elmo_dims,
            self.settings.hidden_dim,
            self.settings.dropout,
            self.settings.max_span,
        )

    def gold(self, example: Example) -> list[int]:
        """Return the first answer that aligns to tokens; if none does, no span is right."""
        spans = example.target.spans or ((0, 0),)
        return list(spans[0])

    def score(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, float]:
        references = {example.id: example.target.answers for example in examples}
        texts = self.answers(examples, predictions)
        return score_squad(references, texts)

    def answers(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, str]:
        """Return predictions as the official script expects them: {question id: text}."""
        pairs = zip(examples, predictions, strict=True)
        return {example.id: example.target.text(*span) for example, span in pairs}

    def counts(self, example: Example, prediction: Any) -> Counts:
        share = self.score([example], [prediction])["f1"] / 100
        return [(share, 1, share, 1)]

    def annotate(self, example: Example, prediction: Any) -> Annotation:
        first, last = prediction
        text = example.target.text(first, last)
        return Annotation(label=text, spans=((0, first, last, "answer"),))

    def kind(self, example: Example) -> str:
        return data.question_word(example.segments[1])

    def parse(self, text: str) -> Example:
        return data.parse(text)

    def write_predictions(
        self, examples: Sequence[Example], predictions: Sequence[Any], path: Path
    ) -> None:
        """Write a prediction file for the official script."""
        text = json.dumps(self.answers(examples, predictions), ensure_ascii=False, indent=1)
        path.write_text(text + "\n", encoding="utf-8")

    def score_files(self, gold: Path, predicted: Path, partial: bool = False) -> dict[str, Any]:
        """Score the questions of a file; one without a prediction scores 0, unless `partial`."""
        predictions = read_json(predicted)
        if not isinstance(predictions, dict):
            raise DataError(predicted, None, "not a JSON object {question id: answer}")
        references = data.read_references(gold)
        if partial:  # for example, the articles of one split
            references = {key: texts for key, texts in references.items() if key in predictions}
        return score_squad(references, predictions)

    def _shortened(
        self, examples: Iterator[Example], split: Split, skipped: Skipped
    ) -> Iterator[Example]:
        if split != "train" or self.settings.max_train_tokens is None:
            return examples
        return data.cut_paragraphs(examples, self.settings.max_train_tokens, skipped)
