"""Significance of a gain: paired approximate randomization over test examples."""

from collections.abc import Callable

import numpy as np

from elmo_bench.records.predictions import read_predictions, score
from elmo_bench.records.run import Record

ROUNDS = 9999
BATCH = 500  # rounds at once, to bound memory
TEST = (
    f"p: two-sided paired approximate randomization test, {ROUNDS:,} rounds. Each round swaps the "
    "predictions of the two systems for each test example with probability 1/2, in all paired "
    "seeds at once; the statistic is the difference in scores, averaged over seeds."
)

Score = Callable[[np.ndarray], np.ndarray]


def p_value(baseline: np.ndarray, system: np.ndarray, rounds: int = ROUNDS, seed: int = 0) -> float:
    """The probability of a difference at least as large as observed if the systems were equal.

    An example is swapped in all seeds together: the predictions of several seeds for one example
    are not independent, so seeds narrow the estimate of each score but add no test examples.

    Args:
        baseline: Counts of the baseline as (seed, example, group, 4).
        system: Counts of the other system on the same seeds and examples.
        rounds: Number of random assignments; p is at least 1 / (1 + rounds).
        seed: Fixed, so that a table is the same every time.
    """
    num_seeds, num_examples, *counts = baseline.shape
    difference = (system - baseline).transpose(1, 0, 2, 3).reshape(num_examples, -1)
    sums = baseline.sum(axis=1), system.sum(axis=1)
    observed = abs(_gain(*sums))
    rng = np.random.default_rng(seed)
    extreme = 0
    for start in range(0, rounds, BATCH):
        size = min(BATCH, rounds - start)
        random_bytes = rng.integers(0, 256, (size, (num_examples + 7) // 8), dtype=np.uint8)
        swap = np.unpackbits(random_bytes, axis=1, count=num_examples).astype(np.float64)
        moved = (swap @ difference).reshape(size, num_seeds, *counts)
        gains = _gain(sums[0] + moved, sums[1] - moved)
        extreme += int((np.abs(gains) >= observed - 1e-9).sum())
    return (1 + extreme) / (1 + rounds)


def _gain(baseline: np.ndarray, system: np.ndarray) -> np.ndarray:
    """Difference in scores of summed counts (..., seed, group, 4), averaged over seeds."""
    return np.asarray((score(system) - score(baseline)).mean(axis=-1))


def compare_runs(pairs: list[tuple[Record, Record]]) -> float | None:
    """The p-value of runs paired by seed; None if predictions are missing or do not match."""
    arms: list[list[np.ndarray]] = [[], []]
    for pair in pairs:
        for arm, record in zip(arms, pair, strict=True):
            predictions = read_predictions(record)
            if predictions is None:
                return None  # p must be of the same pairs as the gain
            arm.append(predictions.counts)
    if len({counts.shape for arm in arms for counts in arm}) != 1:
        return None
    return p_value(np.stack(arms[0]), np.stack(arms[1]))
