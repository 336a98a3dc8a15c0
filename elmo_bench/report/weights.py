"""Learned layer weights and other recorded values, over seeds and over epochs."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from elmo_bench.report.groups import Group


class Learned(NamedTuple):
    """The layer weights that the seeds of a group learned at one placement."""

    weights: np.ndarray  # (seed, layer)
    gammas: np.ndarray  # (seed,)
    layers: list[int]


def layer_name(layer: int) -> str:
    """The name of an encoder's layer; layer 0 is the token layer."""
    return "tokens" if layer == 0 else f"layer {layer}"


def learned_weights(group: Group) -> dict[str, Learned]:
    """Learned weights by placement; empty if the runs do not mix layers."""
    found: dict[str, list[tuple[list[float], float, list[int]]]] = defaultdict(list)
    for record in group.records:
        for placement, learned in record.layer_weights.items():
            weights = learned["weights"]
            layers = learned.get("layers", list(range(len(weights))))
            if len(weights) > 1:
                found[placement].append((weights, learned["gamma"], layers))
    return {
        placement: Learned(
            np.array([weights for weights, _, _ in runs]),
            np.array([gamma for _, gamma, _ in runs]),
            runs[0][2],
        )
        for placement, runs in found.items()
    }


class Curve(NamedTuple):
    """Mean and range over seeds."""

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def weight_curves(group: Group, placement: str) -> dict[int, Curve]:
    """Weights by layer, over the epochs that all seeds reached."""
    layers = learned_weights(group)[placement].layers
    curves = {layer: curve_over_seeds(group, f"elmo/{placement}/layer{layer}") for layer in layers}
    return {layer: curve for layer, curve in curves.items() if curve is not None}


def curve_over_seeds(group: Group, key: str, x: str = "epoch") -> Curve | None:
    """A recorded value over the dev passes that all seeds reached; None if it was not recorded."""
    runs = [points(record.epochs, key, x) for record in group.records]
    runs = [run for run in runs if len(run[0])]
    if not runs:
        return None
    length = min(len(steps) for steps, _ in runs)
    values = np.array([values[:length] for _, values in runs])
    steps = np.array([steps[:length] for steps, _ in runs]).mean(axis=0)
    return Curve(steps, values.mean(axis=0), values.min(axis=0), values.max(axis=0))


def points(epochs: list[dict], key: str, x: str = "epoch") -> tuple[np.ndarray, np.ndarray]:
    """The epochs or steps of one run at which a value was recorded, and the values."""
    rows = [row for row in epochs if key in row and x in row]
    return np.array([row[x] for row in rows]), np.array([row[key] for row in rows])
