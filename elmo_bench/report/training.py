"""How long trainings took: to their best dev score, and to the baseline's best."""

from collections.abc import Iterable
from statistics import fmean
from typing import NamedTuple

import numpy as np

from elmo_bench.records.run import Record
from elmo_bench.report.groups import Group


class Length(NamedTuple):
    """Until a dev score was reached: means over seeds."""

    updates: float
    epochs: float


class Speed(NamedTuple):
    """Updates to the baseline's best dev score, over the seeds in which both arms reach it."""

    baseline: float
    elmo: float
    reached: int
    seeds: int  # that both arms have

    @property
    def fewer(self) -> float:
        """How many percent fewer updates ELMo needs; negative if it needs more."""
        return 100 * (1 - self.elmo / self.baseline)


class DevPasses(NamedTuple):
    """The dev scores of one run over its training."""

    steps: np.ndarray
    epochs: np.ndarray
    scores: np.ndarray


def dev_passes(record: Record) -> DevPasses:
    """The dev passes whose score, step and epoch were recorded."""
    keys = ("step", "epoch", f"dev/{record.metric}")
    rows = [[row[key] for key in keys] for row in record.epochs if all(key in row for key in keys)]
    return DevPasses(*np.array(rows, dtype=float).reshape(-1, 3).T)


def to_best(group: Group) -> Length | None:
    """Updates and epochs to the best dev score; None if they were not recorded."""
    found = [passes for record in group.records if len((passes := dev_passes(record)).scores)]
    best = [(passes, int(passes.scores.argmax())) for passes in found]
    if not best:
        return None
    return Length(
        fmean(float(passes.steps[index]) for passes, index in best),
        fmean(float(passes.epochs[index]) for passes, index in best),
    )


def speed(baseline: Group, group: Group) -> Speed | None:
    """Compare two arms by seeds; None if ELMo reaches the baseline's best score in none."""
    theirs = {record.seed: record for record in baseline.records}
    pairs = [(theirs[record.seed], record) for record in group.records if record.seed in theirs]
    own, needed = [], []
    for before, after in pairs:
        slow, fast = dev_passes(before), dev_passes(after)
        if len(slow.scores) and (fast.scores >= slow.scores.max()).any():
            own.append(float(slow.steps[slow.scores.argmax()]))
            needed.append(float(fast.steps[(fast.scores >= slow.scores.max()).argmax()]))
    return Speed(fmean(own), fmean(needed), len(own), len(pairs)) if sum(own) else None


def is_converged(record: Record) -> bool | None:
    """Whether the training ended because the dev score had stopped rising, and not at max_epochs.

    None if the record does not say.
    """
    task = record.config.get("task", {})
    training = task.get("training") if isinstance(task.get("training"), dict) else {}
    limit, patience = training.get("max_epochs"), training.get("patience")
    _, epochs, scores = dev_passes(record)
    if not isinstance(limit, int) or not len(scores):
        return None
    if epochs[-1] < limit or (isinstance(patience, int) and _passes_since(scores) >= patience):
        return True
    halvings = training.get("max_halvings")  # the last worse score ends such a training
    return isinstance(halvings, int) and _num_worse(scores) > halvings


def unconverged(groups: Iterable[Group | None]) -> int:
    """The number of runs that ended at max_epochs."""
    records = [record for group in groups if group for record in group.records]
    return sum(is_converged(record) is False for record in records)


def _passes_since(scores: np.ndarray) -> int:
    """The dev passes after the best one."""
    return len(scores) - 1 - int(scores.argmax())


def _num_worse(scores: np.ndarray) -> int:
    """The dev passes with a lower score than an earlier one."""
    return int((scores < np.maximum.accumulate(scores)).sum())
