"""The paper's Figure 2: the learned layer weights of each task, and how training changed them."""

import textwrap
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from elmo_bench.errors import UserError
from elmo_bench.report.figures.style import (
    layer_style,
    legend_below,
    new_figure,
    whole_ticks,
)
from elmo_bench.report.groups import Group, Runs
from elmo_bench.report.headline import headline_groups
from elmo_bench.report.labels import short_labels
from elmo_bench.report.weights import layer_name, learned_weights, weight_curves

PER_LINE = 8
LABEL_WIDTH = 15  # characters of a label that have room above a stack of cells
TITLE = "Layer weights, mean ± sd over seeds\nhatched: below 1/n, dotted: above 2/n (n layers)"
FEW = 5  # layers that have room for the deviation on a line of its own
EDGE = "#5b7fa6"  # of cells and their hatching
EMPTY = "no finished run that mixes layers; start one with `python run.py task=NAME`"


def draw(runs: Runs) -> Figure:
    """Draw the runs that the main table shows, without those with an untrained encoder."""
    groups = [g for g in headline_groups(runs) if not g.is_untrained and learned_weights(g)]
    if not groups:
        raise UserError(EMPTY)
    return draw_groups(groups)


def draw_groups(groups: list[Group]) -> Figure:
    """Weights as shaded cells, mean ± standard deviation over seeds; below, weights by epoch.

    Each encoder has lines of its own, since encoders differ in the number of layers.
    """
    by_encoder: dict[str, list[Group]] = {}
    for group in sorted(groups, key=lambda group: (group.is_transformer, group.bilm)):
        by_encoder.setdefault(group.bilm, []).append(group)
    lines = [line for alike in by_encoder.values() for line in _lines(alike)]
    columns = max(len(line.groups) for line in lines)
    top = 0.6 if len(by_encoder) == 1 else 0.4
    figure = new_figure(1.4 + 1.35 * columns, top + sum(line.height for line in lines))
    parts = figure.subfigures(len(lines), 1, squeeze=False, height_ratios=[n.height for n in lines])
    for line, part in zip(lines, parts[:, 0], strict=True):
        grid = part.subplots(
            2 * len(line.placements), columns, squeeze=False,
            height_ratios=[line.cells] * len(line.placements) + [1.3] * len(line.placements),
        )  # fmt: skip
        _draw_line(grid, line)
        if len(by_encoder) > 1:
            part.suptitle(line.groups[0].bilm, fontsize=9, fontweight="bold")
        if len(by_encoder) > 1 or line is lines[-1]:
            legend_below(part, *grid.flat)
    figure.suptitle(TITLE, fontsize=9)
    return figure


class Line(NamedTuple):
    """Groups beside each other: tasks with the same encoder."""

    groups: list[Group]
    labels: list[str]
    placements: list[str]
    depth: int
    top: float  # of the axes of the curves

    @property
    def cells(self) -> float:
        """The height of a stack of cells, in inches."""
        return max(1.6, 0.24 * self.depth)

    @property
    def height(self) -> float:
        return 1.0 + (self.cells + 1.4) * len(self.placements)


def _lines(groups: list[Group]) -> Iterator[Line]:
    """Yield the groups of an encoder in lines of equal length."""
    num_lines = -(-len(groups) // PER_LINE)
    length = -(-len(groups) // num_lines)
    labels = [_wrapped(label) for label in short_labels(groups)]
    depth = max(max(w.layers) + 1 for group in groups for w in learned_weights(group).values())
    top = _highest(groups, depth)
    for start in range(0, len(groups), length):
        part = groups[start : start + length]
        placements = sorted({placement for group in part for placement in learned_weights(group)})
        yield Line(part, labels[start : start + length], placements, depth, top)


def _wrapped(label: str) -> str:
    """A label whose long names are broken after underscores."""
    lines = [textwrap.wrap(line.replace("_", "_ "), LABEL_WIDTH) for line in label.split("\n")]
    return "\n".join(part.replace("_ ", "_") for parts in lines for part in parts)


def _highest(groups: list[Group], depth: int) -> float:
    """The top of the curves' axes: 1, or less for many layers, whose weights are small."""
    if depth <= FEW:
        return 1.0
    curves = (
        curve
        for group in groups
        for placement in learned_weights(group)
        for curve in weight_curves(group, placement).values()
    )
    return max((float(curve.high.max()) for curve in curves), default=1.0)


def _draw_line(grid: np.ndarray, line: Line) -> None:
    groups, labels, placements = line.groups, line.labels, line.placements
    for axes in grid.flat:
        axes.set_axis_off()
    for column, (group, label) in enumerate(zip(groups, labels, strict=True)):
        grid[0, column].set_title(label, fontsize=8)
        for row, placement in enumerate(placements):
            if placement in learned_weights(group):
                _draw_cells(grid[row, column], group, placement)
                _draw_curves(grid[len(placements) + row, column], group, placement, line.top)
    _name_rows(grid, groups, placements)


def _draw_cells(axes: Axes, group: Group, placement: str) -> None:
    weights, gammas, layers = learned_weights(group)[placement]
    axes.set_axis_on()
    blues = colormaps["Blues"]
    # As in the paper for three layers. Rounded like the numbers in the cells, which decide: cells
    # that show the same number look the same.
    low, high = round(1 / len(layers), 2), round(2 / len(layers), 2)
    few = len(layers) <= FEW
    for row in range(len(layers)):
        mean = float(weights[:, row].mean())
        shown = round(mean, 2)
        strength = min(1.0, mean * max(3, len(layers)) / 3)
        shade = blues(0.05 + 0.8 * strength)
        edge = "#ffffff" if shown > high else EDGE
        hatch = "///" if shown < low else "..." if shown > high else None
        axes.add_patch(
            Rectangle((0, row), 1, 1, facecolor=shade, edgecolor=edge, hatch=hatch, lw=0.8)
        )
        gap = "\n" if few else " "
        spread = f"{gap}±{weights[:, row].std(ddof=1):.2f}" if len(weights) > 1 else ""
        box = {"boxstyle": "round,pad=0.15", "facecolor": shade, "edgecolor": "none"}
        axes.text(
            0.5, row + 0.5, f"{mean:.2f}{spread}", ha="center", va="center",
            fontsize=7.5 if few else 6.5,
            color="#ffffff" if strength > 0.62 else "#000000", bbox=box, linespacing=0.95,
        )  # fmt: skip
    axes.set(xlim=(0, 1), ylim=(0, len(layers)), xticks=[])
    axes.set_yticks(np.arange(len(layers)) + 0.5, [layer_name(layer) for layer in layers])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(f"γ {gammas.mean():.2f}", fontsize=7.5, labelpad=1)


def _draw_curves(axes: Axes, group: Group, placement: str, top: float) -> None:
    axes.set_axis_on()
    curves = weight_curves(group, placement)
    depth = max(curves, default=0) + 1
    for layer, (epochs, mean, low, high) in curves.items():
        style = layer_style(layer, depth)
        axes.plot(epochs, mean, **style, label=layer_name(layer))
        if depth <= FEW:  # the ranges of many layers would hide their lines
            axes.fill_between(epochs, low, high, color=style["color"], alpha=0.2, linewidth=0)
    axes.set_ylim(0, top)
    if top == 1:
        axes.set(yticks=[0, 1 / 3, 2 / 3, 1], yticklabels=["0", "⅓", "⅔", "1"])
    axes.set_xlabel("epoch", labelpad=1)
    whole_ticks(axes, 3)


def _name_rows(grid: np.ndarray, groups: list[Group], placements: list[str]) -> None:
    """Layers and placements are named once, at the first task that has them."""
    for row, placement in enumerate(placements):
        having = [i for i, group in enumerate(groups) if placement in learned_weights(group)]
        if not having:
            continue
        for i in having[1:]:
            grid[row, i].set_yticklabels([])
            grid[len(placements) + row, i].set_yticklabels([])
        grid[row, having[0]].set_ylabel(placement, fontweight="bold")
        grid[len(placements) + row, having[0]].set_ylabel(f"{placement}, weight")
