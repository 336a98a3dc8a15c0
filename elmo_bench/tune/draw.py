"""Drawing the values of the next trial."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.samplers import BaseSampler, BruteForceSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial

from elmo_bench.tune.space import Range

STARTUP = 5  # random trials that are never pruned, before the sampler has anything to learn from


def draw(
    space: Mapping[str, Range], trials: Sequence[FrozenTrial], seed: int
) -> dict[str, Any] | None:
    """Draw values that no trial has; None if every combination was tried.

    The result depends on the arguments alone: a search that was interrupted makes the same draws
    as one that was not, and each of several processes makes another.

    Args:
        space: The ranges to draw from.
        trials: All trials so far, also failed and running ones.
        seed: Of the study.
    """
    taken = [trial.params for trial in trials]
    first, second = map(int, np.random.SeedSequence([seed, len(trials)]).generate_state(2))
    finite = all(found.is_finite for found in space.values())
    for sampler in (
        TPESampler(seed=first, n_startup_trials=STARTUP),
        BruteForceSampler(seed=second) if finite else RandomSampler(seed=second),
    ):
        values = _ask(sampler, space, trials)
        if values not in taken:
            return values
    return None


def _ask(
    sampler: BaseSampler, space: Mapping[str, Range], trials: Sequence[FrozenTrial]
) -> dict[str, Any]:
    """Ask a sampler in a study in memory, so that the study on disk has only accepted draws."""
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.add_trials(trials)
    trial = study.ask({key: found.distribution() for key, found in space.items()})
    return {key: _rounded(value) for key, value in trial.params.items()}


def _rounded(value: Any) -> Any:
    """0.3 for 0.1 + 0.1 + 0.1."""
    return float(f"{value:.12g}") if isinstance(value, float) else value
