"""Scores by label and confusions between labels, from pairs of gold and predicted labels."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

NONE = ""  # the other side of a label that was missed, or of one that should not be there


class Pair(NamedTuple):
    """What gold and a system say about one place; NONE where one of them says nothing."""

    gold: str
    predicted: str


class Change(NamedTuple):
    """A confusion of gold with another label that one of two systems makes, and how often."""

    gold: str
    mistaken: str
    times: int


def paired(gold: Mapping[str, str], predicted: Mapping[str, str]) -> dict[str, Pair]:
    """Pairs of labels by place, for all places that either side labels."""
    places = dict.fromkeys([*gold, *predicted])
    return {place: Pair(gold.get(place, NONE), predicted.get(place, NONE)) for place in places}


def confusion(pairs: Iterable[Pair]) -> dict[str, dict[str, int]]:
    """How often each gold label was predicted as which label."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for gold, predicted in pairs:
        counts[gold][predicted] += 1
    return {gold: dict(sorted(row.items())) for gold, row in sorted(counts.items())}


def label_scores(confusions: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, float | int]]:
    """Precision, recall and F1 in percent of each label, with how often it occurs."""
    rows = {gold: sum(row.values()) for gold, row in confusions.items()}
    columns: Counter[str] = Counter()
    for row in confusions.values():
        columns.update(row)
    scores = {}
    for label in sorted({*rows, *columns} - {NONE}):
        right = confusions.get(label, {}).get(label, 0)
        gold, predicted = rows.get(label, 0), columns[label]
        scores[label] = {
            "precision": 100 * right / predicted if predicted else 0.0,
            "recall": 100 * right / gold if gold else 0.0,
            "f1": 200 * right / (gold + predicted),
            "gold": gold,
            "predicted": predicted,
        }
    return scores


def changes(
    before: Iterable[Mapping[str, Pair]], after: Iterable[Mapping[str, Pair]]
) -> tuple[list[Change], list[Change]]:
    """The confusions that a second system mends and those that it makes, the most frequent first.

    Args:
        before: By place, for each example: what the first system says.
        after: What the second one says of the same examples.
    """
    mended: Counter[tuple[str, str]] = Counter()
    made: Counter[tuple[str, str]] = Counter()
    for old, new in zip(before, after, strict=True):
        for place in {**old, **new}:
            gold = (old.get(place) or new[place]).gold
            first = old[place].predicted if place in old else NONE
            second = new[place].predicted if place in new else NONE
            if first != gold == second:
                mended[gold, first] += 1
            if first == gold != second:
                made[gold, second] += 1
    return _ordered(mended), _ordered(made)


def _ordered(counts: Counter[tuple[str, str]]) -> list[Change]:
    found = [Change(gold, other, count) for (gold, other), count in counts.items()]
    return sorted(found, key=lambda change: (-change.times, change.gold, change.mistaken))
