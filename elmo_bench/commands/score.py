"""`elmo-bench score`: the official metric on two files of a corpus's own format."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo_bench.config.folders import options

HELP = "score a prediction file against a gold file with the task's official metric"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help=", ".join(options("task")))
    parser.add_argument("gold", metavar="GOLD", type=Path, help="gold file, plain or .gz")
    parser.add_argument(
        "predicted",
        metavar="PRED",
        type=Path,
        help="predictions in the format that a run writes, which is that of the official scorer",
    )
    parser.add_argument(
        "--partial",
        action="store_true",
        help="count only what PRED has of GOLD: the articles of a split, the verbs of sentences",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, unrounded")


def run(args: Namespace) -> int:
    from elmo_bench.config.compose import task_settings
    from elmo_bench.config.locating import build_task

    task = build_task(task_settings(args.task).build)
    scores = task.score_files(args.gold, args.predicted, args.partial)
    if args.json:
        print(json.dumps(scores, indent=2))
    else:
        _print_table(args.task, scores)
    return 0


def _print_table(task: str, scores: Mapping[str, Any]) -> None:
    from elmo_bench.report.cells import Table, decimal, word
    from elmo_bench.report.terminal import new_console, show

    rows = list(_rows("", scores))
    columns = list(dict.fromkeys(name for _, numbers in rows for name in numbers))
    cells = [
        {"": word(name)} | {key: decimal(value) for key, value in numbers.items()}
        for name, numbers in rows
    ]
    titles = {"": "", **{column: column for column in columns}}
    show(Table("score", task, titles, cells, narrow=()), new_console())


def _rows(name: str, scores: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, float]]]:
    """A row for the numbers of a level, then those of the levels below it."""
    numbers = {key: value for key, value in scores.items() if not isinstance(value, Mapping)}
    if numbers:
        yield name or "all", numbers
    for key, value in scores.items():
        if isinstance(value, Mapping):
            yield from _rows("" if key == "per_type" else key, value)
