"""Accuracy, the metric of SNLI and SST-5."""

from collections.abc import Hashable, Sequence

from elmo_bench.errors import UserError
from elmo_bench.metrics.checks import check_same_length
from elmo_bench.metrics.ratios import Ratio


def accuracy(gold: Sequence[Hashable], pred: Sequence[Hashable]) -> dict[str, float]:
    """Percentage of examples whose predicted label equals the gold label."""
    check_same_length(gold, pred, "labels")
    if not gold:
        raise UserError("accuracy is undefined without labels")
    correct = sum(g == p for g, p in zip(gold, pred, strict=True))
    return {"accuracy": Ratio(correct, len(gold)).percent}
