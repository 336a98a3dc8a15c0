"""The runs that settings describe, and which of them are finished; imports no torch."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from elmo_bench.config.settings import RunSettings
from elmo_bench.records.run import read_record
from elmo_bench.runs.files import RunFiles
from elmo_bench.sweep.job import Part

STATES = ("done", "begun", "failed", "to do")


def runs_of(settings: RunSettings) -> list[RunSettings]:
    """The settings themselves, after those of their baseline if they have one."""
    return [settings.for_baseline(), settings] if settings.has_baseline else [settings]


def plan(settings: RunSettings) -> list[Part]:
    """The runs of settings, each with its current state."""
    parts = []
    for one in runs_of(settings):
        files = RunFiles.of(one)
        state = "to do" if settings.force else _state(files)
        parts.append(Part(files.name, one.elmo.name, state))
    return parts


def _state(files: RunFiles) -> str:
    if files.finished() is not None:
        return "done"
    if files.is_begun:
        return "begun"
    try:
        return "failed" if read_record(files.record).error is not None else "to do"
    except ValueError:
        return "to do"  # there is none, or it is damaged


def show_plan(parts: Iterable[Part], console: Console | None = None) -> None:
    """List runs and their states; a baseline that several jobs share is one run."""
    console = console or Console()
    distinct = {part.name: part for part in parts}
    table = Table(title="Runs", title_justify="left")
    for column in ("run", "arm", "state"):
        table.add_column(column)
    for part in distinct.values():
        arm = "baseline" if part.arm == "none" else f"+ELMo ({part.arm})"
        table.add_row(part.name, arm, part.state, style="dim" if part.state == "done" else "")
    console.print(table)
    states = [part.state for part in distinct.values()]
    counts = [f"{states.count(state)} {state}" for state in STATES if state in states]
    console.print(f"{len(distinct)} runs: {', '.join(counts)}")
