"""The gain from ELMo on each task, next to the paper's."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elmo_bench.errors import UserError
from elmo_bench.report.figures.style import COLORS, INK, MARKERS, NAMES, legend_below, new_figure
from elmo_bench.report.gain import error_reduction
from elmo_bench.report.groups import Group, Runs, mean_and_spread
from elmo_bench.report.headline import headline_groups, paired_seeds
from elmo_bench.report.labels import short_labels
from elmo_bench.report.paper import published

EMPTY = "no finished run with ELMo and its baseline; `python run.py task=NAME` runs both"
OFFSETS = {"elmo": 0.0, "untrained": 0.22, "paper": -0.22}


def draw(runs: Runs) -> Figure:
    """Absolute and relative gains; bars are ± one standard deviation over paired seeds."""
    groups = [g for g in headline_groups(runs) if paired_seeds(runs.baseline(g), g)]
    trained = [group for group in groups if not group.is_untrained] or groups
    if not trained:
        raise UserError(EMPTY)
    labels = short_labels(trained, separator=", ")
    figure = new_figure(7.2, 0.9 + 0.44 * len(trained))
    left, right = figure.subplots(1, 2, sharey=True)
    for row, group in enumerate(trained):
        _mark(left, right, runs, group, row)
        control = runs.control(group)
        if control and paired_seeds(runs.baseline(control), control):
            _mark(left, right, runs, control, row)
        paper = published(group.task)
        if paper:
            before, after = paper["baseline"], paper["elmo"]
            _point(left, "paper", row, after - before)
            _point(right, "paper", row, error_reduction(before, after))
    for axes, title in ((left, "gain, points"), (right, "error reduction, %")):
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_xlabel(title)
        axes.grid(axis="y", visible=False)
    left.set_yticks(range(len(trained)), labels)
    left.set_ylim(len(trained) - 0.5, -0.5)
    legend_below(figure, left)
    return figure


def _mark(left: Axes, right: Axes, runs: Runs, group: Group, row: int) -> None:
    arm = "untrained" if group.is_untrained else "elmo"
    baseline = runs.baseline(group)
    assert baseline is not None
    seeds = paired_seeds(baseline, group)
    before, after = baseline.scores("test", seeds), group.scores("test", seeds)
    pairs = list(zip(before, after, strict=True))
    _point(left, arm, row, *mean_and_spread([b - a for a, b in pairs]))
    _point(right, arm, row, *mean_and_spread([error_reduction(a, b) for a, b in pairs]))


def _point(axes: Axes, arm: str, row: int, value: float, spread: float | None = None) -> None:
    axes.errorbar(
        value, row + OFFSETS[arm], xerr=spread, fmt=MARKERS[arm], color=COLORS[arm], capsize=2,
        label=NAMES[arm], markerfacecolor="none" if arm == "paper" else COLORS[arm],
    )  # fmt: skip
