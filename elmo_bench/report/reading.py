"""What the runs say of layers and places, in words: only where it exceeds the spread over seeds.

A difference is told when it has the same sign in every seed and its mean is greater than its
standard deviation, over three seeds or more.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from elmo_bench.report.ablations import LAYERS, PLACEMENT, Column
from elmo_bench.report.groups import Group, Runs, key_of
from elmo_bench.report.labels import short_labels
from elmo_bench.report.tables import headline_groups
from elmo_bench.report.weights import Learned, layer_name, learned_weights

MIN_SEEDS = 3


class Favourite(NamedTuple):
    """The layer that a group weighs most at a place; None where no layer stands out."""

    label: str
    layer: int | None
    weight: float


def reading(runs: Runs) -> list[str]:
    """Sentences on layer weights by place, on flatness, and on settings that win."""
    groups = [g for g in headline_groups(runs) if not g.is_untrained and learned_weights(g)]
    labelled = list(zip(short_labels(groups, " "), groups, strict=True))
    sentences = list(_weights(labelled))
    for label, group in labelled:
        sentences += _flatness(label, learned_weights(group))
    sentences += _winners(runs, PLACEMENT, ("elmo.name", "elmo.places"))
    sentences += _winners(runs, LAYERS, ("elmo.name", "elmo.use", "elmo.penalty"))
    return sentences


def bears(differences: Float[np.ndarray, " seed"]) -> bool:
    """Whether a difference that was positive on average is more than the spread over seeds."""
    if len(differences) < MIN_SEEDS or differences.min() <= 0:
        return False
    return bool(differences.mean() > differences.std(ddof=1))


def _weights(labelled: list[tuple[str, Group]]) -> Iterator[str]:
    """By place, which layer the tasks weigh most."""
    favourites: dict[str, list[Favourite]] = defaultdict(list)
    few = 0
    for label, group in labelled:
        for place, learned in learned_weights(group).items():
            if len(learned.weights) < MIN_SEEDS:
                few += 1
            else:
                favourites[place].append(_favourite(label, learned))
    for place, found in sorted(favourites.items()):
        by_layer: dict[int, list[Favourite]] = defaultdict(list)
        for favourite in found:
            if favourite.layer is not None:
                by_layer[favourite.layer].append(favourite)
        for layer, some in sorted(by_layer.items()):
            named = ", ".join(f"{f.label} {f.weight:.2f}" for f in some)
            number = f"{len(some)} of {len(found)} settings"
            paper = ", as in the paper" if (place, layer) == ("input", 1) else ""
            yield f"At the {place}, {layer_name(layer)} weighs most in {number}{paper}: {named}."
        undecided = [favourite.label for favourite in found if favourite.layer is None]
        if undecided:
            yield f"At the {place}, no layer stands out over the seeds of {', '.join(undecided)}."
    if few:
        yield f"Nothing is said of {few} with fewer than {MIN_SEEDS} seeds."


def _favourite(label: str, learned: Learned) -> Favourite:
    second, first = np.argsort(learned.weights.mean(axis=0))[-2:]
    stands_out = bears(learned.weights[:, first] - learned.weights[:, second])
    weight = float(learned.weights[:, first].mean())
    return Favourite(label, learned.layers[first] if stands_out else None, weight)


def _flatness(label: str, places: Mapping[str, Learned]) -> Iterator[str]:
    """Where a model takes vectors at two places, whether one of them weighs the layers alike."""
    if set(places) != {"input", "output"}:
        return
    if len(places["input"].weights) != len(places["output"].weights):
        return
    ranges = {place: np.ptp(learned.weights, axis=1) for place, learned in places.items()}
    for flat, steep in (("output", "input"), ("input", "output")):
        if bears(ranges[steep] - ranges[flat]):
            yield (
                f"{label}: the weights are flatter at the {flat} than at the {steep} "
                f"(range {ranges[flat].mean():.2f} against {ranges[steep].mean():.2f})."
            )


def _winners(runs: Runs, columns: Mapping[str, Column], varying: tuple[str, ...]) -> Iterator[str]:
    """Where nothing but one setting differs, the setting that is ahead of all others on dev."""
    families: dict[str, dict[str, Group]] = defaultdict(dict)
    for group in runs.with_elmo:
        for name, column in columns.items():
            if column.matches(group.config["elmo"]) and not group.is_untrained:
                families[key_of(group.config, *varying)].setdefault(name, group)
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
    if not all(bears(scores[best] - scores[other]) for other in others):
        return None
    group = family[best]
    ahead = ", ".join(
        f"{(scores[best] - scores[o]).mean():.2f} ± {(scores[best] - scores[o]).std(ddof=1):.2f} "
        f"over “{o}”"
        for o in others
    )
    return (
        f"{group.task} ({group.corpus}): “{best}” is ahead on dev {group.metric} by {ahead} "
        f"({len(seeds)} seeds)."
    )
