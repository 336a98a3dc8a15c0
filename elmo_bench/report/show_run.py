"""One run in the terminal: scores, settings, curves, layer weights, labels and times."""

import shlex
from datetime import timedelta
from typing import Any

from hydra.errors import HydraException
from rich.console import Console
from rich.text import Text

from elmo_bench.config.compose import run_settings
from elmo_bench.config.errors import ConfigError
from elmo_bench.config.identity import what_counts
from elmo_bench.records.run import Record
from elmo_bench.records.visible import visible
from elmo_bench.report.differences import flatten
from elmo_bench.report.label_tables import label_tables
from elmo_bench.report.paper import published
from elmo_bench.report.run_command import base_overrides
from elmo_bench.report.run_summary import arm_name, show_comparison
from elmo_bench.report.terminal import show
from elmo_bench.report.text_plot import Point, text_plot


def show_run(record: Record, baseline: Record | None, console: Console) -> None:
    """Print everything that is worth knowing about a run.

    Args:
        record: Of the run.
        baseline: The same model without ELMo, or None.
        console: Where to print.
    """

    def line(text: str, style: str = "") -> None:
        console.print(Text(visible(text)), style=style)

    line(f"{record.file_name.removesuffix('.json')} ({record.source})", "bold")
    console.print(Text(visible(repeating_command(record))), soft_wrap=True)
    if record.error is not None:
        line(f"failed: {record.error}", "red")
        return
    console.print()
    show_comparison(baseline, record, published(record.task), console)
    for title, text in (
        ("Settings that differ from the defaults", ", ".join(changed_settings(record))),
        ("Data", _counts(record)),
        ("Time", _times(record)),
        ("Made", _origin(record)),
    ):
        if text:
            line(f"{title}: {text}")
    console.print()
    curve = text_plot(_curves(record, baseline), min(console.width, 100), "epoch")
    if curve:
        line(f"dev {record.metric} over training", "bold")
        for row in curve:
            line(row)
        console.print()
    for table in label_tables(record, baseline):
        show(table, console)


def repeating_command(record: Record) -> str:
    """The command that makes the run again."""
    words = [*base_overrides(record), *([f"seed={record.seed}"] if record.seed != 1 else [])]
    return shlex.join(["python", "run.py", *words])


def changed_settings(record: Record) -> list[str]:
    """The settings of model, training and ELMo whose values are not the task's defaults."""
    try:
        usual = run_settings([f"task={record.task}", f"seed={record.seed}"])
    except (ConfigError, HydraException):
        return []  # this version does not know the task
    defaults: dict[str, Any] = {
        "task": {
            "build": what_counts(usual.task.build, str),
            "training": what_counts(usual.task.training, str),
        },
        "elmo": what_counts(usual.elmo, str),
    }
    before, now = flatten(defaults), flatten(record.config)
    return [f"{key}={now[key]}" for key in before if key in now and now[key] != before[key]]


def _curves(record: Record, baseline: Record | None) -> dict[str, list[Point]]:
    key = f"dev/{record.metric}"
    runs = {arm_name(run): run for run in (record, baseline) if run is not None}
    return {
        name: [(row["epoch"], row[key]) for row in run.epochs if "epoch" in row and key in row]
        for name, run in runs.items()
    }


def _counts(record: Record) -> str:
    parts = [f"{value:,} {name}" for name, value in record.sizes.items()]
    return ", ".join([*parts, *(f"{n:,} skipped ({why})" for why, n in record.skipped.items())])


def _times(record: Record) -> str:
    parts = sorted(record.seconds.items(), key=lambda item: -item[1])
    return ", ".join(f"{stage} {timedelta(seconds=round(value))}" for stage, value in parts)


def _origin(record: Record) -> str:
    environment = record.environment
    commit, torch = environment.get("commit"), (environment.get("packages") or {}).get("torch")
    named = ((name, value) for name, value in (("commit", commit), ("torch", torch)) if value)
    return ", ".join([record.finished, *(f"{name} {value}" for name, value in named)])
