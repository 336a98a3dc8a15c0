"""The runs that settings describe, and which of them are finished; imports no torch."""

from collections.abc import Iterable
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from elmo_bench.config.settings import RunSettings
from elmo_bench.records.run import read_record
from elmo_bench.runs.files import RunFiles

STATES = ("done", "begun", "failed", "to do")


class PlannedRun(NamedTuple):
    """A line of a plan; the state is one of STATES."""

    name: str
    corpus: str
    arm: str
    state: str


def runs_of(settings: RunSettings) -> list[RunSettings]:
    """The settings themselves, after those of their baseline if they have one."""
    return [settings.for_baseline(), settings] if settings.has_baseline else [settings]


def plan(settings: RunSettings) -> list[PlannedRun]:
    """The runs of settings, each with its current state."""
    runs = []
    for one in runs_of(settings):
        files = RunFiles.of(one)
        state = "to do" if settings.force else _state(files)
        runs.append(PlannedRun(files.name, _corpus(one), _arm(one), state))
    return runs


def _corpus(settings: RunSettings) -> str:
    fraction = settings.data.train_fraction
    part = f", {100 * fraction:g} %" if fraction != 1 else ""
    return f"{settings.data.label}{part}"


def _arm(settings: RunSettings) -> str:
    if settings.elmo.is_baseline:
        return "baseline"
    untrained = ", untrained" if settings.bilm.weights == "random" else ""
    return f"{settings.elmo.name}, {settings.bilm.name}{untrained}"


def _state(files: RunFiles) -> str:
    if files.finished() is not None:
        return "done"
    if files.is_begun:
        return "begun"
    try:
        return "failed" if read_record(files.record).error is not None else "to do"
    except ValueError:
        return "to do"  # there is none, or it is damaged


def show_plan(runs: Iterable[PlannedRun], console: Console | None = None) -> None:
    """List runs and their states; a baseline that several jobs share is one run."""
    console = console or Console()
    distinct = {run.name: run for run in runs}
    table = Table(title="Runs", title_justify="left")
    for column in ("run", "corpus", "arm", "state"):
        table.add_column(column)
    for run in distinct.values():
        table.add_row(*run, style="dim" if run.state == "done" else "")
    console.print(table)
    states = [run.state for run in distinct.values()]
    counts = [f"{states.count(state)} {state}" for state in STATES if state in states]
    console.print(f"{len(distinct)} runs: {', '.join(counts)}")
