"""Percentages from counts, with the convention of all official scorers that 0/0 is 0."""

from typing import NamedTuple


class Ratio(NamedTuple):
    """A numerator and a denominator, kept separate so that they can be summed before dividing."""

    part: float
    whole: float

    @property
    def percent(self) -> float:
        return 100.0 * self.part / self.whole if self.whole else 0.0


def precision_recall_f1(precision: Ratio, recall: Ratio) -> dict[str, float]:
    p, r = precision.percent, recall.percent
    return {"precision": p, "recall": r, "f1": 2 * p * r / (p + r) if p + r else 0.0}
