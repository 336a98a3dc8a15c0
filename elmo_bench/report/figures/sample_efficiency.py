"""The paper's Figure 1: score as a function of training set size."""

from collections import defaultdict

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from elmo_bench.errors import UserError
from elmo_bench.report.figures.style import (
    COLORS,
    MARKERS,
    NAMES,
    arm_style,
    legend_below,
    new_figure,
)
from elmo_bench.report.groups import ELMO_KEYS, Group, Runs, key_of, mean_and_spread
from elmo_bench.report.labels import short_labels

EMPTY = (
    "no runs on fractions of the training data; start some with "
    "`python run.py -m task=NAME data.train_fraction=0.01,0.1,1`"
)
PER_LINE = 3
LENGTH = ("patience", "max_epochs")  # of training; an epoch of less data has fewer updates
Arms = dict[str, list[Group]]  # name of the arm -> its groups by fraction


def draw(runs: Runs) -> Figure:
    """Test score by fraction of the training data, with and without ELMo; bands are ± one sd."""
    families = [arms for arms in _families(runs) if len(arms) > 1]
    if not families:
        raise UserError(EMPTY)
    columns = min(PER_LINE, len(families))
    lines = -(-len(families) // columns)
    figure = new_figure(max(4.2, 3.1 * columns), 0.6 + 2.6 * lines)
    grid = figure.subplots(lines, columns, squeeze=False)
    labels = short_labels([next(iter(arms.values()))[0] for arms in families], separator=", ")
    for index, axes in enumerate(grid.flat):
        if index >= len(families):
            axes.set_axis_off()
            continue
        for name, groups in families[index].items():
            _draw_arm(axes, name, groups)
        caption = savings_caption(families[index])
        axes.set_title(f"{labels[index]}\n{caption}" if caption else labels[index], fontsize=8)
        _label_axes(axes, families[index])
    legend_below(figure, max(grid.flat, key=lambda axes: len(axes.get_lines())))
    return figure


def _families(runs: Runs) -> list[Arms]:
    """For each model and corpus, the arms that have runs on several fractions of the data.

    Fractions may differ in how long they train; of several groups of one, the longest is shown.
    """
    by_context: dict[str, Arms] = defaultdict(lambda: defaultdict(list))
    for group in runs.groups:
        if group.scored("test") and group.any_record.elmo in ("none", "paper"):
            length = (f"task.training.{name}" for name in LENGTH)
            context = group.key(*ELMO_KEYS, "data.train_fraction", *length)
            elmo = key_of({k: group.config.get(k) for k in ELMO_KEYS})
            by_context[f"{group.task} {context}"][elmo].append(group)
    families = []
    for found in by_context.values():
        arms = [groups for groups in map(_by_fraction, found.values()) if len(groups) > 1]
        arms.sort(key=lambda groups: groups[0].bilm)
        families.append({_arm_name(groups, arms): groups for groups in arms})
    return families


def _by_fraction(groups: list[Group]) -> list[Group]:
    ordered = sorted(groups, key=lambda group: (group.train_fraction, _length(group)))
    return list({group.train_fraction: group for group in ordered}.values())


def _length(group: Group) -> list[int]:
    training = group.config.get("task", {}).get("training", {})
    return [training.get(name) or 0 for name in LENGTH]


def _arm_name(groups: list[Group], arms: list[list[Group]]) -> str:
    name = NAMES[_arm(groups[0])]
    alike = [other[-1] for other in arms if _arm(other[0]) == _arm(groups[0])]
    if len(alike) == 1:
        return name
    return f"{name}: {short_labels(alike, separator=', ')[alike.index(groups[-1])]}"


def savings_caption(arms: Arms) -> str:
    """The smallest fraction with which ELMo matches the baseline on its largest; '' if none."""
    baseline, elmo = arms.get(NAMES["baseline"]), arms.get(NAMES["elmo"])
    if not baseline or not elmo:
        return ""
    goal = mean_and_spread(baseline[-1].scores("test"))[0]
    enough = [g for g in elmo if mean_and_spread(g.scores("test"))[0] >= goal]
    if not enough or enough[0].train_fraction >= baseline[-1].train_fraction:
        return ""
    few, many = 100 * enough[0].train_fraction, 100 * baseline[-1].train_fraction
    return f"ELMo at {few:g} % ≥ baseline at {many:g} %"


def _arm(group: Group) -> str:
    return "baseline" if group.is_baseline else "untrained" if group.is_untrained else "elmo"


def _draw_arm(axes: Axes, name: str, groups: list[Group]) -> None:
    arm = _arm(groups[0])
    fractions = np.array([100 * group.train_fraction for group in groups])
    means, spreads = zip(*(mean_and_spread(group.scores("test")) for group in groups), strict=True)
    mean, spread = np.array(means), np.array([value or 0.0 for value in spreads])
    axes.plot(fractions, mean, label=name, marker=MARKERS[arm], **arm_style(arm))
    axes.fill_between(fractions, mean - spread, mean + spread, color=COLORS[arm], alpha=0.2, lw=0)


def _label_axes(axes: Axes, arms: Arms) -> None:
    group = next(iter(arms.values()))[0]
    shown = sorted({100 * g.train_fraction for groups in arms.values() for g in groups})
    axes.set_xscale("log")
    axes.set_xticks(shown)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("fraction of the training data")
    axes.set_ylabel(f"test {group.metric}")
