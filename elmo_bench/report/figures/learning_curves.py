"""Dev scores over training: how many updates ELMo needs to match the baseline's best score."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from elmo_bench.errors import UserError
from elmo_bench.report.figures.style import (
    INK,
    MARKERS,
    NAMES,
    arm_style,
    encoder_style,
    legend_below,
    new_figure,
    whole_ticks,
)
from elmo_bench.report.groups import Group, Runs
from elmo_bench.report.headline import headline_groups
from elmo_bench.report.labels import short_labels
from elmo_bench.report.training import dev_passes, speed, to_best
from elmo_bench.report.weights import curve_over_seeds, points

EMPTY = "no finished run with ELMo and its baseline; `python run.py task=NAME` runs both"
BEST = "baseline's best dev score, and where it is reached"
PER_LINE = 3


class Panel(NamedTuple):
    """The arms of one task, corpus and model."""

    baseline: Group
    arms: list[Group]  # with ELMo, the untrained encoder first


def draw(runs: Runs) -> Figure:
    """A panel per task and corpus: updates below, epochs above. Thin lines are single seeds."""
    panels = _panels(runs)
    if not panels:
        raise UserError(EMPTY)
    styles = _styles(panels)
    columns = min(PER_LINE, len(panels))
    lines = -(-len(panels) // columns)
    figure = new_figure(max(4.0, 3.0 * columns), 0.5 + 2.8 * lines)
    grid = figure.subplots(lines, columns, squeeze=False)
    labels = short_labels([panel.baseline for panel in panels], separator=", ")
    for axes, panel, label in zip(grid.flat, panels, labels, strict=False):
        _draw_panel(axes, panel, styles)
        axes.set_title(label, fontweight="bold")
        axes.set_xlabel(f"updates\n{speed_caption(*panel)}", fontsize=7, labelpad=1)
        axes.set_ylabel(f"dev {panel.baseline.metric}")
    for unused in grid.flat[len(panels) :]:
        unused.set_axis_off()
    legend_below(figure, *grid.flat[: len(panels)])
    return figure


def _panels(runs: Runs) -> list[Panel]:
    found: dict[str, Panel] = {}
    for group in headline_groups(runs):
        baseline = runs.baseline(group)
        if baseline and _has_curve(baseline) and _has_curve(group):
            found.setdefault(baseline.key(), Panel(baseline, [])).arms.append(group)
    panels = [panel for panel in found.values() if any(not g.is_untrained for g in panel.arms)]
    for panel in panels:
        panel.arms.sort(key=lambda group: not group.is_untrained)
    return panels


def _has_curve(group: Group) -> bool:
    return any(len(dev_passes(record).scores) for record in group.records)


def _styles(panels: list[Panel]) -> dict[str, dict[str, Any]]:
    """The name in the legend and the line of each encoder, the same in all panels."""
    trained = {g.bilm: g for panel in panels for g in panel.arms if not g.is_untrained}
    untrained = {g.bilm for panel in panels for g in panel.arms if g.is_untrained}
    order = sorted(trained, key=lambda name: (trained[name].is_transformer, name))
    several = len(order) > 1
    styles = {name: {"label": NAMES["untrained"], **arm_style("untrained")} for name in untrained}
    for rank, name in enumerate(order):
        label = f"{NAMES['elmo']} ({name})" if several else NAMES["elmo"]
        styles[name] = {"label": label, **encoder_style(rank)}
    return styles


def _key(group: Group) -> str:
    return f"dev/{group.metric}"


def _draw_panel(axes: Axes, panel: Panel, styles: Mapping[str, dict[str, Any]]) -> None:
    best = fmean(dev_passes(record).scores.max() for record in panel.baseline.records)
    axes.axhline(best, color=INK, linewidth=0.8, linestyle=":", label=BEST)
    _draw_arm(axes, panel.baseline, {"label": NAMES["baseline"], **arm_style("baseline")})
    for group in panel.arms:
        style = styles[group.bilm]
        _draw_arm(axes, group, style)
        if not group.is_untrained and (found := speed(panel.baseline, group)):
            _mark(axes, found.elmo, best, MARKERS["elmo"], style["color"])
    if length := to_best(panel.baseline):
        color = arm_style("baseline")["color"]
        _mark(axes, length.updates, best, MARKERS["baseline"], color)
    axes.set_xlim(left=0)
    whole_ticks(axes, 5)
    per_epoch = updates_per_epoch(panel.baseline)
    if per_epoch is not None:
        scale = (lambda x: np.asarray(x) / per_epoch, lambda x: np.asarray(x) * per_epoch)
        above = axes.secondary_xaxis("top", functions=scale)
        above.set_xlabel("epochs", labelpad=3)
        above.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))


def _draw_arm(axes: Axes, group: Group, style: Mapping[str, Any]) -> None:
    for record in group.records:
        steps, values = points(record.epochs, _key(group), "step")
        axes.plot(steps, values, color=style["color"], linewidth=0.6, alpha=0.45)
    curve = curve_over_seeds(group, _key(group), "step")
    if curve is not None:
        axes.plot(curve.x, curve.mean, **style)


def _mark(axes: Axes, updates: float, score: float, marker: str, color: Any) -> None:
    axes.plot(updates, score, marker, color=color, markersize=6, markeredgecolor="white", zorder=5)


def updates_per_epoch(group: Group) -> float | None:
    """The mean number of updates in an epoch; None if the steps were not recorded."""
    ratios = [
        row["step"] / row["epoch"]
        for record in group.records
        for row in record.epochs[-1:]
        if row.get("step") and row.get("epoch")
    ]
    return fmean(ratios) if ratios else None


def speed_caption(baseline: Group, arms: list[Group]) -> str:
    """How many updates each needs to reach the baseline's best; the paper claims fewer for ELMo."""
    trained = [group for group in arms if not group.is_untrained]
    lines = []
    for group in trained:
        name = group.bilm if len(trained) > 1 else "ELMo"
        found = speed(baseline, group)
        if found is None:
            lines.append(f"{name} does not reach the baseline's best score")
            continue
        some = "" if found.reached == found.seeds else f"; {found.reached} of {found.seeds} seeds"
        lines.append(
            f"{name}: {found.elmo:,.0f} for the baseline's {found.baseline:,.0f} "
            f"({-found.fewer:+.0f} %{some})"
        )
    return "\n".join(lines)
