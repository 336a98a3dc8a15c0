"""Question answering behind the contract of a task."""

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
from tasks.squad import data
from tasks.squad.model import Reader


class SquadTask(Task):
    """A span of a paragraph that answers a question; predictions are first and last token.

    Args:
        articles: A JSON file {split: [titles]} that cuts one file into splits, if not null; a split
            that it does not name is its whole file.
        max_train_tokens: Longer paragraphs are cut in training; never in evaluation.
        char_dim: Size of the character embeddings.
        char_filters: Width and number of each kind of character filter.
        max_chars: Words are cut to so many characters.
        hidden_dim: Units per direction of every GRU.
        dropout: Variational, at the input of every layer, and on the characters.
        max_span: Tokens of an answer at the most.
    """

    suffix = "json"

    def __init__(
        self,
        articles: str | None,
        max_train_tokens: int | None,
        char_dim: int,
        char_filters: Sequence[Sequence[int]],
        max_chars: int,
        hidden_dim: int,
        dropout: float,
        max_span: int,
    ) -> None:
        self.articles = articles
        self.max_train_tokens = max_train_tokens
        self.char_settings = (char_dim, char_filters, max_chars, None, dropout)
        self.hidden_dim = hidden_dim
        self.dropout = dropout
        self.max_span = max_span

    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]:
        examples = data.read(path, split, self.articles, skipped)
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
        chars = CharCnn(*self.char_settings)
        return Reader(words, chars, elmo_dims, self.hidden_dim, self.dropout, self.max_span)

    def gold(self, example: Example) -> list[int]:
        """The first answer that aligns to tokens; where none does, no span is right."""
        spans = example.target.spans or ((0, 0),)
        return list(spans[0])

    def score(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, float]:
        references = {example.id: example.target.answers for example in examples}
        texts = self.answers(examples, predictions)
        return score_squad(references, texts)

    def answers(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, str]:
        """Predictions in the form of the official script: {question id: text}."""
        pairs = zip(examples, predictions, strict=True)
        return {example.id: example.target.text(*span) for example, span in pairs}

    def counts(self, example: Example, prediction: Any) -> Counts:
        share = self.score([example], [prediction])["f1"] / 100
        return [(share, 1, share, 1)]

    def annotate(self, example: Example, prediction: Any) -> Annotation:
        first, last = prediction
        text = example.target.text(first, last)
        return Annotation(label=text, spans=((0, first, last, "answer"),))

    def parse(self, text: str) -> Example:
        return data.parse(text)

    def write_predictions(
        self, examples: Sequence[Example], predictions: Sequence[Any], path: Path
    ) -> None:
        """Write the file that the official script takes."""
        text = json.dumps(self.answers(examples, predictions), ensure_ascii=False, indent=1)
        path.write_text(text + "\n", encoding="utf-8")

    def score_files(self, gold: Path, predicted: Path, partial: bool = False) -> dict[str, Any]:
        """Score the questions of a file; one without a prediction scores 0, unless `partial`."""
        predictions = read_json(predicted)
        if not isinstance(predictions, dict):
            raise DataError(predicted, None, "not a JSON object {question id: answer}")
        references = data.read_references(gold)
        if partial:  # the articles of one split, say
            references = {key: texts for key, texts in references.items() if key in predictions}
        return score_squad(references, predictions)

    def _shortened(
        self, examples: Iterator[Example], split: Split, skipped: Skipped
    ) -> Iterator[Example]:
        if split != "train" or self.max_train_tokens is None:
            return examples
        return data.cut_paragraphs(examples, self.max_train_tokens, skipped)
