"""Scatter plots of a word's occurrences on their first two principal components."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from elmo_bench.report.figures.style import FAINT, INK, legend_below, new_figure
from elmo_bench.report.weights import layer_name

# Okabe and Ito's colors without black, each with its own marker for printing in gray.
SENSE_COLORS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#f0e442"]
SENSE_MARKERS = ["o", "^", "s", "D", "v", "P", "X"]
MAX_POINTS = 2000  # more would overlap

Points = Float[np.ndarray, "row 2"]


def principal_plane(
    vectors: Float[np.ndarray, "row dim"], others: Float[np.ndarray, "other dim"] | None = None
) -> tuple[Points, Float[np.ndarray, "_other 2"], list[float]]:
    """Project vectors onto the plane of their two greatest variances.

    The plane is fitted to `vectors` alone; `others` are only projected onto it. The third value
    returned is the share of the total variance along each of the two directions.
    """
    center = vectors.mean(axis=0)
    centered = vectors - center
    _, sizes, directions = np.linalg.svd(centered, full_matrices=False)
    shares = (sizes**2 / max(float((sizes**2).sum()), 1e-12))[:2].tolist()
    axes = np.zeros((2, vectors.shape[1]), vectors.dtype)
    axes[: len(directions[:2])] = directions[:2]
    # The sign of a direction is arbitrary; this fixes it on every machine.
    axes *= np.where(axes[range(2), np.abs(axes).argmax(axis=1)] < 0, -1, 1)[:, None]
    placed = np.empty((0, 2)) if others is None else (others - center) @ axes.T
    return centered @ axes.T, placed, [*shares, 0.0][:2]


def sample_rows(total: int, kept: Sequence[int]) -> list[int]:
    """Return the rows to draw: an even sample if there are many, and always the `kept` ones."""
    even = np.linspace(0, total - 1, min(total, MAX_POINTS)).astype(int)
    return sorted({*even.tolist(), *kept})


def draw_occurrences(
    title: str,
    layers: Mapping[int, Float[np.ndarray, "row dim"]],
    senses: Sequence[str | None],
    query: Mapping[int, Float[np.ndarray, " dim"]] | None = None,
    nearest: Sequence[int] = (),
) -> Figure:
    """Draw a panel per layer, a point per occurrence, a color and marker per sense.

    Args:
        title: The title of the figure.
        layers: The vectors of the occurrences by layer.
        senses: The sense of each occurrence; None where it is unknown.
        query: An occurrence to mark with a star, by layer.
        nearest: Rows to number, nearest first.
    """
    figure = new_figure(0.4 + 3.2 * len(layers), 3.7)
    panels = figure.subplots(1, len(layers), squeeze=False)[0]
    for axes, (layer, vectors) in zip(panels, layers.items(), strict=True):
        own = None if query is None else query[layer][None].astype(np.float32)
        points, star, shares = principal_plane(vectors.astype(np.float32), own)
        _draw_points(axes, points, senses)
        near = points[list(nearest)]
        axes.scatter(near[:, 0], near[:, 1], s=40, facecolors="none", edgecolors=INK, zorder=3)
        for number, position in enumerate(near, start=1):
            axes.annotate(
                str(number), position, xytext=(4, 4), textcoords="offset points", zorder=4,
                path_effects=[withStroke(linewidth=2.5, foreground="white")],
            )  # fmt: skip
        if len(star):
            axes.scatter(
                star[:, 0],
                star[:, 1],
                marker="*",
                s=130,
                c=INK,
                ec="w",
                zorder=5,
                label="the query",
            )
        axes.set(xticks=[], yticks=[], title=layer_name(layer))
        axes.set_xlabel(f"{100 * shares[0]:.0f} % of the variance")
        axes.set_ylabel(f"{100 * shares[1]:.0f} %")
    figure.suptitle(title, fontsize=9)
    legend_below(figure, panels[0])
    return figure


def _draw_points(axes: Axes, points: Points, senses: Sequence[str | None]) -> None:
    counts = Counter(sense for sense in senses if sense is not None)
    shown = [sense for sense, _ in counts.most_common(len(SENSE_COLORS))]
    rest = np.array([sense not in shown for sense in senses])
    size = 26 if len(points) < 300 else 12
    if rest.any():
        label = "other or unknown sense" if shown else "occurrence"
        color = FAINT if shown else SENSE_COLORS[0]
        axes.scatter(
            points[rest, 0], points[rest, 1], s=size, c=color, alpha=0.7, lw=0, label=label
        )
    for sense, color, marker in zip(shown, SENSE_COLORS, SENSE_MARKERS, strict=False):
        chosen = np.array([other == sense for other in senses])
        axes.scatter(
            points[chosen, 0], points[chosen, 1], s=size, c=color, marker=marker, alpha=0.75,
            ec="w", lw=0.3, label=f"{sense} ({counts[sense]})",
        )  # fmt: skip
