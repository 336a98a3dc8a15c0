"""Dev scores over training: how many updates ELMo needs to match the baseline's best score."""

from statistics import fmean

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from elmo_bench.errors import UserError
from elmo_bench.report.figures.style import (
    COLORS,
    INK,
    NAMES,
    arm_style,
    legend_below,
    new_figure,
    whole_ticks,
)
from elmo_bench.report.groups import Group, Runs
from elmo_bench.report.headline import headline_groups
from elmo_bench.report.labels import short_labels
from elmo_bench.report.weights import curve_over_seeds, points

EMPTY = "no finished run with ELMo and its baseline; `python run.py task=NAME` runs both"
PER_LINE = 3


def draw(runs: Runs) -> Figure:
    """A panel per task and corpus: updates below, epochs above. Thin lines are single seeds."""
    pairs = [
        (baseline, group)
        for group in headline_groups(runs)
        if not group.is_untrained and group.records and (baseline := runs.baseline(group))
    ]
    pairs = [
        (b, g) for b, g in pairs if curve_over_seeds(g, _key(g)) and curve_over_seeds(b, _key(b))
    ]
    if not pairs:
        raise UserError(EMPTY)
    columns = min(PER_LINE, len(pairs))
    lines = -(-len(pairs) // columns)
    figure = new_figure(max(4.0, 3.0 * columns), 0.5 + 2.7 * lines)
    grid = figure.subplots(lines, columns, squeeze=False)
    labels = short_labels([group for _, group in pairs], separator=", ")
    for axes, (baseline, group), label in zip(grid.flat, pairs, labels, strict=False):
        _draw_pair(axes, baseline, group)
        axes.set_title(label, fontweight="bold")
        axes.set_xlabel(f"updates\n{speed_caption(baseline, group)}", fontsize=7, labelpad=1)
        axes.set_ylabel(f"dev {group.metric}")
    for unused in grid.flat[len(pairs) :]:
        unused.set_axis_off()
    legend_below(figure, grid[0, 0])
    return figure


def _key(group: Group) -> str:
    return f"dev/{group.metric}"


def _draw_pair(axes: Axes, baseline: Group, group: Group) -> None:
    best = fmean(max(points(record.epochs, _key(baseline))[1]) for record in baseline.records)
    axes.axhline(best, color=INK, linewidth=0.8, linestyle=":", label="baseline's best dev score")
    for arm, runs in (("baseline", baseline), ("elmo", group)):
        for record in runs.records:
            steps, values = points(record.epochs, _key(runs), "step")
            axes.plot(steps, values, color=COLORS[arm], linewidth=0.6, alpha=0.45)
        curve = curve_over_seeds(runs, _key(runs), "step")
        if curve is not None:
            axes.plot(curve.x, curve.mean, label=NAMES[arm], **arm_style(arm))
    axes.set_xlim(left=0)
    whole_ticks(axes, 5)
    length = updates_per_epoch(group)
    if length is not None:
        scale = (lambda x: np.asarray(x) / length, lambda x: np.asarray(x) * length)
        above = axes.secondary_xaxis("top", functions=scale)
        above.set_xlabel("epochs", labelpad=1)
        above.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))


def updates_per_epoch(group: Group) -> float | None:
    """The mean number of updates in an epoch; None if the steps were not recorded."""
    ratios = [
        row["step"] / row["epoch"]
        for record in group.records
        for row in record.epochs[-1:]
        if row.get("step") and row.get("epoch")
    ]
    return fmean(ratios) if ratios else None


def speed(baseline: Group, group: Group) -> tuple[float, float, int] | None:
    """Updates to the baseline's best dev score: the baseline's, ELMo's, and the number of seeds.

    Means over the seeds in which ELMo reaches that score; None if there are none.
    """
    theirs = {record.seed: record for record in baseline.records}
    own, needed = [], []
    for record in group.records:
        if record.seed not in theirs:
            continue
        steps, values = points(theirs[record.seed].epochs, _key(baseline), "step")
        elmo_steps, elmo_values = points(record.epochs, _key(group), "step")
        if len(values) and (elmo_values >= values.max()).any():
            own.append(float(steps[values.argmax()]))
            needed.append(float(elmo_steps[(elmo_values >= values.max()).argmax()]))
    return (fmean(own), fmean(needed), len(own)) if own else None


def speed_caption(baseline: Group, group: Group) -> str:
    """How many updates each needs to reach the baseline's best; the paper claims fewer for ELMo."""
    found = speed(baseline, group)
    seeds = len(set(baseline.seeds) & set(group.seeds))
    if found is None:
        return "ELMo does not reach the baseline's best score"
    own, needed, reached = found
    some = "" if reached == seeds else f", {reached} of {seeds} seeds"
    return (
        f"baseline's best score after {own:,.0f} updates;\n"
        f"ELMo reaches it after {needed:,.0f} ({100 * (needed / own - 1):+.0f} %{some})"
    )
