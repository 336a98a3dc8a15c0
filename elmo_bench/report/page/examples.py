"""Test examples on which ELMo and the baseline differ, with their spans marked up."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup, escape

from elmo_bench.errors import UserError
from elmo_bench.records.predictions import read_predictions, score
from elmo_bench.records.run import Record

BETTER, WORSE = 4, 2  # number of examples of either kind
MARGIN = 20  # tokens shown around the spans of a long segment
LONG = 70  # a segment of more tokens is cut to the part with spans
SEGMENTS = 8  # shown at most
COLORS = 8


class Span(NamedTuple):
    """A labeled span of one segment; `last` is inclusive."""

    first: int
    last: int
    label: str


@dataclass(frozen=True)
class Line:
    """The tokens of a segment with the spans of one source marked."""

    source: str  # gold, baseline or +ELMo; '' if there are no spans
    text: Markup


@dataclass(frozen=True)
class ExampleView:
    """An example ready for the page."""

    id: str
    scores: dict[str, float]  # by arm
    labels: dict[str, str] = field(default_factory=dict)  # gold and by arm
    segments: list[list[Line]] = field(default_factory=list)
    left_out: int = 0  # segments


@dataclass(frozen=True)
class Differences:
    """How two runs differ on the test split, and some examples of it."""

    better: int
    worse: int
    total: int
    examples: list[ExampleView]


def differences(baseline: Record, run: Record) -> Differences | None:
    """Compare two runs example by example; None if predictions were not kept."""
    theirs, ours = read_predictions(baseline), read_predictions(run)
    if theirs is None or ours is None or theirs.counts.shape != ours.counts.shape:
        return None
    before, after = score(theirs.counts), score(ours.counts)
    gain = after - before
    length = np.array([len(line) for line in ours.lines])
    # The largest differences first; among equals the shortest example, which is quickest to read.
    order = np.lexsort((length, -np.abs(gain))).tolist()
    chosen = [i for i in order if gain[i] > 0][:BETTER] + [i for i in order if gain[i] < 0][:WORSE]
    if not (theirs.has_text and ours.has_text):
        chosen = []
    try:
        views = [_view(theirs[i], ours[i], float(before[i]), float(after[i])) for i in chosen]
    except UserError:  # a line is damaged: the counts are shown without examples
        views = []
    return Differences(
        int((gain > 0).sum()),
        int((gain < 0).sum()),
        len(gain),
        views,
    )


def _view(theirs: dict[str, Any], ours: dict[str, Any], before: float, after: float) -> ExampleView:
    annotations = {
        "gold": ours["gold"],
        "baseline": theirs["predicted"],
        "+ELMo": ours["predicted"],
    }
    labels = {
        source: str(annotation["label"])
        for source, annotation in annotations.items()
        if annotation["label"] is not None
    }
    names = [span[3] for annotation in annotations.values() for span in annotation["spans"]]
    colors = {label: index % COLORS for index, label in enumerate(dict.fromkeys(names))}
    segments: list[tuple[int, list[Line]]] = []
    plain: list[tuple[int, list[Line]]] = []
    for index, tokens in enumerate(ours["tokens"]):
        spans = {
            source: [Span(*span[1:]) for span in annotation["spans"] if span[0] == index]
            for source, annotation in annotations.items()
        }
        lines = _lines(tokens, spans, colors)
        (segments if any(spans.values()) else plain).append((index, lines))
    kept = sorted(segments[:SEGMENTS] + plain[: max(0, SEGMENTS - len(segments))], key=_index)
    return ExampleView(
        id=str(ours["id"]),
        scores={"baseline": before, "+ELMo": after},
        labels=labels,
        segments=[lines for _, lines in kept],
        left_out=len(ours["tokens"]) - len(kept),
    )


def _index(numbered: tuple[int, list[Line]]) -> int:
    return numbered[0]


def _lines(
    tokens: Sequence[str], spans: dict[str, list[Span]], colors: dict[str, int]
) -> list[Line]:
    """A line for each source's spans; a single one if all sources agree."""
    every = [span for marks in spans.values() for span in marks]
    if not every:
        return [Line("", marked(tokens[:LONG], [], colors, cut=len(tokens) > LONG))]
    start, end = 0, len(tokens)
    if len(tokens) > LONG:
        start = max(0, min(span.first for span in every) - MARGIN)
        end = min(len(tokens), max(span.last for span in every) + 1 + MARGIN)
    lines = []
    for source, marks in spans.items():
        moved = [Span(span.first - start, span.last - start, span.label) for span in marks]
        text = marked(tokens[start:end], moved, colors, cut=end < len(tokens))
        lines.append(Line(source, Markup("… ") + text if start else text))
    if len({line.text for line in lines}) == 1:
        return [Line("all agree", lines[0].text)]
    return lines


def marked(
    tokens: Sequence[str], spans: Iterable[Span], colors: dict[str, int], cut: bool = False
) -> Markup:
    """Tokens with <mark> around spans; of two that cross, the second is marked in two parts.

    A span outside the tokens is not shown: it would leave a mark open.
    """
    openings: dict[int, list[Span]] = {}
    for span in _nested(s for s in spans if 0 <= s.first <= s.last < len(tokens)):
        openings.setdefault(span.first, []).append(span)
    pieces: list[Markup] = []
    open_spans: list[Span] = []
    for index, token in enumerate(tokens):
        pieces.append(Markup(" ") if index else Markup(""))
        for span in openings.get(index, []):
            pieces.append(Markup('<mark class="c{}">').format(colors.get(span.label, 0)))
            open_spans.append(span)
        pieces.append(escape(token))
        while open_spans and open_spans[-1].last == index:
            pieces.append(Markup("<sub>{}</sub></mark>").format(open_spans.pop().label))
    return Markup("").join([*pieces, Markup(" …")] if cut else pieces)


def _nested(spans: Iterable[Span]) -> list[Span]:
    """The spans, outer before inner; of two that cross, the second is cut where the first ends."""
    waiting = sorted(spans, key=lambda span: (span.first, -span.last))
    result: list[Span] = []
    while waiting:
        span = waiting.pop(0)
        ends = [s.last for s in result if s.first < span.first <= s.last < span.last]
        if ends:
            waiting.append(Span(min(ends) + 1, span.last, span.label))
            waiting.sort(key=lambda span: (span.first, -span.last))
            span = Span(span.first, min(ends), span.label)
        result.append(span)
    return sorted(result, key=lambda span: (span.first, -span.last))
