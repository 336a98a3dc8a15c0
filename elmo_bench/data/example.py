"""An example of any task, before it becomes tensors. Imports no torch."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

Split = Literal["train", "dev", "test"]
Segment = tuple[str, ...]  # encoded by the biLM on its own: a sentence, a question, a paragraph
Skipped = Counter[str]  # what a reader skipped, counted by reason


class Example(NamedTuple):
    """One labeled example of any task."""

    id: str  # unique within its split
    segments: tuple[Segment, ...]  # 1 in tagging, 2 in a pair, n in a document
    target: Any  # gold, in the form this task's model and metric expect; None for new text


def distinct_segments(examples: Iterable[Example]) -> list[Segment]:
    """The segments of some examples, each once, in order of appearance."""
    return list(dict.fromkeys(segment for example in examples for segment in example.segments))
