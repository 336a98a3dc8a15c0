"""Tagging schemes: spans to tags and back, and which tag may follow which.

Tags are `O` or a prefix and a label, as in `B-PER`. In IOB2 every span starts with B and
continues with I; in BIOUL the last token of a longer span is L, and a span of one token is U.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from elmo_bench.errors import UserError


class Span(NamedTuple):
    """A labeled span of tokens, from `start` up to but excluding `end`."""

    label: str
    start: int
    end: int


def read_spans(tags: Sequence[str]) -> list[Span]:
    """The spans of a tag sequence in IOB1, IOB2 or BIOUL.

    As in conlleval, an I (or L) that continues nothing starts a span, so any sequence is valid.
    """
    spans: list[Span] = []
    start, label = 0, ""  # of the open span; "" when there is none
    for position, tag in enumerate([*tags, "O"]):
        prefix, _, name = tag.partition("-")
        if label and (prefix not in "IL" or name != label):
            spans.append(Span(label, start, position))
            label = ""
        if name and not label:
            start, label = position, name
        if label and prefix in "LU":
            spans.append(Span(label, start, position + 1))
            label = ""
    return spans


def write_iob2(spans: Iterable[Span], num_tokens: int) -> list[str]:
    """Return the IOB2 tags of spans that do not overlap."""
    return _write(spans, num_tokens, last="I", single="B")


def write_bioul(spans: Iterable[Span], num_tokens: int) -> list[str]:
    """Return the BIOUL tags of spans that do not overlap."""
    return _write(spans, num_tokens, last="L", single="U")


def _write(spans: Iterable[Span], num_tokens: int, last: str, single: str) -> list[str]:
    tags = ["O"] * num_tokens
    for label, start, end in spans:
        if not 0 <= start < end <= num_tokens:
            raise UserError(f"span {label} {start}:{end} is outside the {num_tokens} tokens")
        if any(tag != "O" for tag in tags[start:end]):
            raise UserError(f"span {label} {start}:{end} overlaps another one")
        tags[start:end] = [f"I-{label}"] * (end - start)
        tags[end - 1] = f"{last}-{label}"
        tags[start] = f"{single if end - start == 1 else 'B'}-{label}"
    return tags


def to_iob2(tags: Sequence[str]) -> list[str]:
    """Rewrite IOB1, IOB2 or BIOUL tags as IOB2."""
    return write_iob2(read_spans(tags), len(tags))


def to_bioul(tags: Sequence[str]) -> list[str]:
    """Rewrite IOB1, IOB2 or BIOUL tags as BIOUL."""
    return write_bioul(read_spans(tags), len(tags))


class Transitions(NamedTuple):
    """Which tags may come first, follow each other and come last."""

    start: list[bool]
    between: list[list[bool]]  # from, to
    end: list[bool]


def iob2_transitions(tags: Sequence[str]) -> Transitions:
    """Allow I-x only after B-x or I-x, and so never first."""
    return _transitions(tags, _follows_in_iob2)


def bioul_transitions(tags: Sequence[str]) -> Transitions:
    """Require I-x or L-x after B-x or I-x; elsewhere, including the start, allow O, B and U."""
    return _transitions(tags, _follows_in_bioul)


def _follows_in_iob2(before: str, after: str) -> bool:
    prefix, _, label = after.partition("-")
    return prefix != "I" or before in (f"B-{label}", f"I-{label}")


def _follows_in_bioul(before: str, after: str) -> bool:
    prefix, _, label = before.partition("-")
    if prefix in ("B", "I"):
        return after in (f"I-{label}", f"L-{label}")
    return after[0] in "OBU"


def _transitions(tags: Sequence[str], follows: Callable[[str, str], bool]) -> Transitions:
    # A sequence may begin with what may follow O, and end with what O may follow.
    return Transitions(
        start=[follows("O", tag) for tag in tags],
        between=[[follows(before, after) for after in tags] for before in tags],
        end=[follows(tag, "O") for tag in tags],
    )
