"""The trials of a search as a table, a CSV file and a figure."""

import csv
import io
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from optuna.trial import FrozenTrial, TrialState

from elmo_bench.records.atomic import write_text
from elmo_bench.report.cells import Cell, Table, word
from elmo_bench.report.figures.style import COLORS, FAINT, new_figure, save, styled, whole_ticks
from elmo_bench.tune.space import Range, as_word

WORDS = {
    TrialState.COMPLETE: "done",
    TrialState.PRUNED: "pruned",
    TrialState.FAIL: "failed",
    TrialState.RUNNING: "running",
    TrialState.WAITING: "queued",
}
PER_LINE = 4
Points = list[tuple[FrozenTrial, float]]


def best_dev(trial: FrozenTrial) -> float | None:
    """The best dev score of a trial, including pruned ones."""
    values = [trial.value] if trial.value is not None else trial.intermediate_values.values()
    return max((float(value) for value in values if value is not None), default=None)


def ordered(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """The trials: completed ones before others, the best first."""
    return sorted(
        trials,
        key=lambda t: (t.state != TrialState.COMPLETE, -(best_dev(t) or 0.0), t.number),
    )


def num_ended(trials: Sequence[FrozenTrial]) -> int:
    """The number of trials that will not change any more."""
    return sum(trial.state.is_finished() for trial in trials)


def trial_line(trial: FrozenTrial) -> str:
    """A trial in one line."""
    values = " ".join(f"{key.rpartition('.')[2]}={_short(v)}" for key, v in trial.params.items())
    score = best_dev(trial)
    outcome = trial.user_attrs.get("error", "") if score is None else f"dev {score:.2f}"
    return f"trial {trial.number} {WORDS[trial.state]}, {outcome}: {values}"


def trials_table(trials: Sequence[FrozenTrial], space: Mapping[str, Range], metric: str) -> Table:
    """A row per trial, the best on top."""
    names = {key: key.rpartition(".")[2] for key in space}
    columns = {"number": "#", "state": "state", "dev": f"dev {metric}", "passes": "passes", **names}
    rows = []
    for trial in ordered(trials):
        score, passes = best_dev(trial), len(trial.intermediate_values)
        row = {
            "number": Cell(str(trial.number), {"": trial.number}),
            "state": word(WORDS[trial.state]),
            "dev": Cell() if score is None else Cell(f"{score:.2f}", {"": score}),
            "passes": Cell(str(passes), {"": passes}),
        }
        values = {key: trial.params[key] for key in space if key in trial.params}
        rows.append(row | {key: Cell(_short(value), {"": value}) for key, value in values.items()})
    # The values of a trial are also in its command and in trials.csv.
    return Table("trials", "Trials", columns, rows, narrow=("passes", *reversed(list(space))))


def write_csv(trials: Sequence[FrozenTrial], space: Mapping[str, Range], path: Path) -> None:
    """Write all trials with every value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "state", "dev", "passes", *space, "error"])
    for trial in trials:
        values = [trial.params.get(key, "") for key in space]
        passes, error = len(trial.intermediate_values), trial.user_attrs.get("error", "")
        state = WORDS[trial.state]
        writer.writerow([trial.number, state, best_dev(trial), passes, *values, error])
    write_text(path, text.getvalue())


def write_picture(
    trials: Sequence[FrozenTrial], space: Mapping[str, Range], metric: str, path: Path
) -> None:
    """Draw the best score so far, and the score against each key."""
    scored = ((trial, best_dev(trial)) for trial in trials)
    points = [(trial, score) for trial, score in scored if score is not None]
    with styled():
        panels = 1 + len(space)
        columns = min(PER_LINE, panels)
        lines = -(-panels // columns)
        figure = new_figure(2.4 * columns, 0.3 + 2.1 * lines)
        grid = list(figure.subplots(lines, columns, squeeze=False).flat)
        _draw_history(grid[0], points)
        for axes, (key, found) in zip(grid[1:], space.items(), strict=False):
            _draw_key(axes, points, key, found)
        for axes in grid[panels:]:
            axes.set_axis_off()
        for axes in grid[:panels:columns]:
            axes.set_ylabel(f"dev {metric}")
        _legend(figure, grid[0])
        save(figure, path)


def _legend(figure: Figure, axes: Axes) -> None:
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)


def _draw_points(axes: Axes, positions: list[Any], points: Points) -> None:
    for state, marker, label in (("done", "o", "trial"), ("pruned", "x", "pruned")):
        chosen = [
            (position, score)
            for position, (trial, score) in zip(positions, points, strict=True)
            if WORDS[trial.state] == state
        ]
        xs, ys = [position for position, _ in chosen], [score for _, score in chosen]
        color = COLORS["elmo"] if state == "done" else COLORS["baseline"]
        axes.plot(xs, ys, marker, color=color, label=label, linestyle="none")


def _draw_history(axes: Axes, points: Points) -> None:
    numbers = [trial.number for trial, _ in points]
    best = list(accumulate((score for _, score in points), max))
    _draw_points(axes, numbers, points)
    axes.step(numbers, best, where="post", color=FAINT, label="best so far")
    axes.set_title("trials in order")
    whole_ticks(axes, 5)


def _draw_key(axes: Axes, points: Points, key: str, found: Range) -> None:
    points = [(trial, score) for trial, score in points if key in trial.params]
    values = [trial.params[key] for trial, _ in points]
    if found.choices is not None:
        words = [as_word(choice) for choice in found.choices]
        values = [words.index(value) for value in values]
        axes.set_xticks(range(len(words)), words)
        axes.set_xlim(-0.5, len(words) - 0.5)
    _draw_points(axes, values, points)
    if found.log and found.low and found.high:
        axes.set_xscale("log")
        ticks = [found.low, (found.low * found.high) ** 0.5, found.high]
        axes.set_xticks(ticks, [f"{tick:.2g}" for tick in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_title(key.removeprefix("task."))


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
