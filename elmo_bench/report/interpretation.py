"""Sentences on what the runs show about layers and placements beyond the spread over seeds.

A difference is reported when it has the same sign in every seed and its mean is greater than its
standard deviation, over three seeds or more.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from elmo_bench.report.ablations import LAYERS, PLACEMENT, Column
from elmo_bench.report.groups import Group, Runs
from elmo_bench.report.headline import headline_groups
from elmo_bench.report.labels import short_labels
from elmo_bench.report.weights import Learned, layer_name, learned_weights

MIN_SEEDS = 3


class Favorite(NamedTuple):
    """The layer with the largest weight at a placement; None if no layer is clearly ahead."""

    label: str
    layer: int | None
    weight: float


def reading(runs: Runs) -> list[str]:
    """Sentences on layer weights by placement, their flatness, and the best settings."""
    groups = [g for g in headline_groups(runs) if not g.is_untrained and learned_weights(g)]
    labeled = list(zip(short_labels(groups, " "), groups, strict=True))
    encoders = dict.fromkeys(group.bilm for group in groups)
    sentences: list[str] = []
    for encoder in encoders:
        some = [(label, group) for label, group in labeled if group.bilm == encoder]
        sentences += _weights(some, f"With {encoder}, at" if len(encoders) > 1 else "At")
    for label, group in labeled:
        sentences += _flatness(label, learned_weights(group))
    sentences += _winners(runs, PLACEMENT, ("elmo.placement",))
    sentences += _winners(runs, LAYERS, ("elmo.layers", "elmo.l2"))
    return sentences


def exceeds_spread(differences: Float[np.ndarray, " seed"]) -> bool:
    """Whether a difference is positive in every seed and greater than its spread over seeds."""
    if len(differences) < MIN_SEEDS or differences.min() <= 0:
        return False
    return bool(differences.mean() > differences.std(ddof=1))


def _weights(labeled: list[tuple[str, Group]], at: str) -> Iterator[str]:
    """For each placement, which layer of an encoder has the largest weight in which tasks."""
    is_bilm = not any(group.is_transformer for _, group in labeled)  # as the paper's encoder is
    favorites: dict[str, list[Favorite]] = defaultdict(list)
    few = 0
    for label, group in labeled:
        for placement, learned in learned_weights(group).items():
            if len(learned.weights) < MIN_SEEDS:
                few += 1
            else:
                favorites[placement].append(_favorite(label, learned))
    for placement, found in sorted(favorites.items()):
        by_layer: dict[int, list[Favorite]] = defaultdict(list)
        for favorite in found:
            if favorite.layer is not None:
                by_layer[favorite.layer].append(favorite)
        for layer, some in sorted(by_layer.items()):
            named = ", ".join(f"{f.label} {f.weight:.2f}" for f in some)
            number = f"{len(some)} of {len(found)} settings"
            papers = is_bilm and (placement, layer) == ("input", 1)
            paper = ", as in the paper" if papers else ""
            most = f"{layer_name(layer)} has the largest weight in {number}{paper}"
            yield f"{at} the {placement}, {most}: {named}."
        undecided = [favorite.label for favorite in found if favorite.layer is None]
        if undecided:
            names = ", ".join(undecided)
            yield f"{at} the {placement}, no layer is clearly ahead across the seeds of {names}."
    if few:
        whose = "" if at == "At" else f" ({labeled[0][1].bilm})"
        yield f"Settings left out because they have fewer than {MIN_SEEDS} seeds: {few}{whose}."


def _favorite(label: str, learned: Learned) -> Favorite:
    second, first = np.argsort(learned.weights.mean(axis=0))[-2:]
    is_ahead = exceeds_spread(learned.weights[:, first] - learned.weights[:, second])
    weight = float(learned.weights[:, first].mean())
    return Favorite(label, learned.layers[first] if is_ahead else None, weight)


def _flatness(label: str, placements: Mapping[str, Learned]) -> Iterator[str]:
    """Whether one of a model's two placements has flatter weights than the other."""
    if set(placements) != {"input", "output"}:
        return
    if len(placements["input"].weights) != len(placements["output"].weights):
        return
    ranges = {
        placement: np.ptp(learned.weights, axis=1) for placement, learned in placements.items()
    }
    for flat, steep in (("output", "input"), ("input", "output")):
        if exceeds_spread(ranges[steep] - ranges[flat]):
            yield (
                f"{label}: the weights are flatter at the {flat} than at the {steep} "
                f"(range {ranges[flat].mean():.2f} vs. {ranges[steep].mean():.2f})."
            )


def _winners(runs: Runs, columns: Mapping[str, Column], varying: tuple[str, ...]) -> Iterator[str]:
    """Among runs that differ in one setting only, the setting that is best on dev."""
    families: dict[str, dict[str, Group]] = defaultdict(dict)
    for group in runs.with_elmo:
        for name, column in columns.items():
            if column.matches(group.config["elmo"]) and not group.is_untrained:
                families[group.key(*varying)].setdefault(name, group)
    for family in families.values():
        sentence = _winner({columns[name].title: group for name, group in family.items()})
        if sentence:
            yield sentence


def _winner(family: Mapping[str, Group]) -> str | None:
    seeds = set.intersection(*(set(group.seeds) for group in family.values()))
    if len(family) < 2 or len(seeds) < MIN_SEEDS:
        return None
    scores = {title: np.array(group.scores("dev", seeds)) for title, group in family.items()}
    if len({len(values) for values in scores.values()}) > 1:
        return None
    best, *others = sorted(scores, key=lambda title: -scores[title].mean())
    if not all(exceeds_spread(scores[best] - scores[other]) for other in others):
        return None
    group = family[best]
    ahead = ", ".join(
        f"“{o}” by {(scores[best] - scores[o]).mean():.2f} ± "
        f"{(scores[best] - scores[o]).std(ddof=1):.2f}"
        for o in others
    )
    return (
        f"{group.task} ({group.corpus}): “{best}” is best on dev {group.metric}, "
        f"ahead of {ahead} ({len(seeds)} seeds)."
    )
