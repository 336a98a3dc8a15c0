"""Which runs a config stands for, and what is already done of them; imports no torch."""

from collections.abc import Iterable

from omegaconf import DictConfig
from rich.console import Console
from rich.table import Table

from elmo_bench.config.identity import baseline_of, has_baseline
from elmo_bench.records.run import read_record
from elmo_bench.runs.files import RunFiles
from elmo_bench.sweep.job import Part

STATES = ("done", "begun", "failed", "to do")


def configs_of(cfg: DictConfig) -> list[DictConfig]:
    """The config itself, after that of its baseline where it asks for one."""
    return [baseline_of(cfg), cfg] if has_baseline(cfg) else [cfg]


def plan(cfg: DictConfig) -> list[Part]:
    """The runs of a config, each with the state that it is in now."""
    parts = []
    for config in configs_of(cfg):
        files = RunFiles.of(config)
        parts.append(Part(files.name, config.elmo.name, "to do" if cfg.force else _state(files)))
    return parts


def _state(files: RunFiles) -> str:
    if files.finished() is not None:
        return "done"
    if files.resumable() is not None:
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
