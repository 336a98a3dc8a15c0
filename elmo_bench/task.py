"""The contract of a task: what a task folder gives to the rest of the framework.

Axis names in shapes, everywhere in the project:
    layer    biLM layers, the token layer first
    batch    examples of one batch
    segment  token sequences that the biLM reads alone (a sentence, a question, a paragraph)
    time     tokens of a segment, padded
    char     characters of a token, padded
    dim      features
    tag      labels of a tagging scheme
    span     candidate spans of a document
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

Split = Literal["train", "dev", "test"]


class Example(NamedTuple):
    """One labelled example of any task."""

    id: str  # unique within its split
    segments: tuple[
        tuple[str, ...], ...
    ]  # each read by the biLM alone: 1 tagging, 2 pair, n document
    target: Any  # gold, in the form this task's model and metric expect


Notes = Counter[str]  # what a reader passed over, counted by reason


class Task(ABC):
    """One of the six tasks, built from `conf/task/<name>.yaml`."""

    @abstractmethod
    def read(self, path: Path, split: Split, notes: Notes) -> Iterator[Example]:
        """Read one file of the corpus's official format, plain or .gz."""

    @abstractmethod
    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, notes: Notes
    ) -> Iterator[Example]:
        """Map the rows of a Hub dataset onto the examples that `read` gives."""

    @abstractmethod
    def score_files(self, gold: Path, predicted: Path) -> dict[str, Any]:
        """Score a prediction file against a gold file, both in the corpus's own format."""
