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

from typing import Any, Literal, NamedTuple

Split = Literal["train", "dev", "test"]


class Example(NamedTuple):
    """One labelled example of any task."""

    id: str  # unique within its split
    segments: tuple[
        tuple[str, ...], ...
    ]  # each read by the biLM alone: 1 tagging, 2 pair, n document
    target: Any  # gold, in the form this task's model and metric expect
