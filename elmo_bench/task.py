"""The task contract: what a task folder provides to the rest of the framework.

Axis names in shapes, everywhere in the project:
    layer    biLM layers, the token layer first
    batch    examples of one batch
    segment  token sequences that the biLM encodes independently (a sentence, a paragraph)
    time     tokens of a segment, padded
    char     characters of a token, padded
    dim      features
    tag      labels of a tagging scheme
    span     candidate spans of a document
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from elmo_bench.data.example import Example, Segment, Skipped, Split, distinct_segments
from elmo_bench.devices import to_device
from elmo_bench.nn.word_embedding import WordEmbedding


@dataclass(frozen=True)
class Batch:
    """Examples with the padded rows of their segments.

    A segment that several examples share (a paragraph and its questions) has one row, so that
    whatever is computed per segment is computed once.
    """

    examples: list[Example]
    segments: list[Segment]  # distinct, one per row
    rows: list[tuple[int, ...]]  # per example, the rows of its segments
    mask: Bool[Tensor, "segment time"]
    layers: Float[Tensor, "layer segment time dim"] | None  # None in the baseline

    def __len__(self) -> int:
        return len(self.examples)

    def row_index(self, segment: int = 0) -> Tensor:
        """Return the row of each example's n-th segment, for gathering."""
        return to_device(torch.tensor([rows[segment] for rows in self.rows]), self.mask.device)

    def to(self, device: torch.device, non_blocking: bool = False) -> "Batch":
        """Move the tensors; Lightning calls this."""
        return replace(
            self,
            mask=self.mask.to(device, non_blocking=non_blocking),
            layers=None
            if self.layers is None
            else self.layers.to(device, non_blocking=non_blocking),
        )

    def pin_memory(self) -> "Batch":
        """The batch in page-locked memory, from which copies to CUDA do not wait."""
        layers = None if self.layers is None else self.layers.pin_memory()
        return replace(self, mask=self.mask.pin_memory(), layers=layers)


def collate(
    examples: list[Example], layers: Float[Tensor, "layer segment time dim"] | None = None
) -> Batch:
    """Collate examples into a batch; `layers` are those of its distinct segments, in order."""
    segments = distinct_segments(examples)
    row_of = {segment: row for row, segment in enumerate(segments)}
    lengths = torch.tensor([len(segment) for segment in segments])
    return Batch(
        examples=examples,
        segments=segments,
        rows=[tuple(row_of[segment] for segment in example.segments) for example in examples],
        mask=torch.arange(int(lengths.max()))[None] < lengths[:, None],
        layers=layers,
    )


class Output(NamedTuple):
    """What a task's model returns."""

    loss: Float[Tensor, ""]
    predictions: list[Any]  # one per example, JSON-serializable; empty during training


class Annotation(NamedTuple):
    """Gold or predicted annotation of an example, for display: a label, or labeled spans."""

    label: str | None = None
    spans: tuple[tuple[int, int, int, str], ...] = ()  # segment, first token, last token, label


# Groups of (precision numerator, denominator, recall numerator, denominator). The score of a set of
# examples is the mean over groups of the F1 of the sums. Only coreference needs several groups.
# Accuracy is (right, 1, right, 1): when precision equals recall, F1 equals both.
Counts = list[tuple[int | float, int | float, int | float, int | float]]


class Task(ABC):
    """A task, built from the settings in `conf/task/<name>.yaml`."""

    suffix: ClassVar[str]  # of the files that `write_predictions` writes: conll, jsonl, ...
    example_text: ClassVar[str]  # that `parse` takes, to show users what to type

    @abstractmethod
    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]:
        """Read one file of the corpus's official format, plain or .gz."""

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, skipped: Skipped
    ) -> Iterator[Example]:
        """Convert the rows of the Hub dataset that the yaml names, if any, as `read` would."""
        raise NotImplementedError

    def label_vocabulary(self, train: Sequence[Example]) -> dict[str, Any]:
        """What the model needs from the training data, such as the tag set; JSON-serializable."""
        return {}

    @abstractmethod
    def build_model(
        self,
        words: WordEmbedding,
        elmo_dims: Mapping[str, int],
        label_vocabulary: Mapping[str, Any],
    ) -> nn.Module:
        """Build the network, called as `model(batch, elmo) -> Output`.

        Args:
            words: Embeds the words of a batch's segments.
            elmo_dims: Size of the ELMo vectors by placement; empty in the baseline.
            label_vocabulary: What `label_vocabulary` returned for the training data.
        """

    @abstractmethod
    def gold(self, example: Example) -> Any:
        """The prediction that a perfect model would make."""

    @abstractmethod
    def score(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, float]:
        """Score the predictions of a whole split with the official metric."""

    @abstractmethod
    def counts(self, example: Example, prediction: Any) -> Counts:
        """What one example adds to the score, for significance tests."""

    @abstractmethod
    def annotate(self, example: Example, prediction: Any) -> Annotation:
        """A prediction (or `gold`) in the form that the terminal and the report display."""

    def labels(self, example: Example, prediction: Any) -> dict[str, str]:
        """The labels of a prediction (or `gold`) by place, to be scored one by one; none here.

        A place names what is labeled, such as a span "3-5"; labels of the same place are compared.
        """
        return {}

    def kind(self, example: Example) -> str:
        """The kind of an example, such as its question word; each kind is scored by itself."""
        return ""

    @abstractmethod
    def parse(self, text: str) -> Example:
        """Parse text that a user types; a ValueError explains the expected form."""

    @abstractmethod
    def write_predictions(
        self, examples: Sequence[Example], predictions: Sequence[Any], path: Path
    ) -> None:
        """Write predictions in the corpus's own format, as `score_files` reads them."""

    @abstractmethod
    def score_files(self, gold: Path, predicted: Path, partial: bool = False) -> dict[str, Any]:
        """Score a prediction file against a gold file, both in the corpus's own format.

        Args:
            gold: The corpus's file.
            predicted: Written by `write_predictions` or by another system.
            partial: Score only what the prediction file has, not everything in gold.
        """
