"""`elmo-bench show`: one run with its settings, curves, layer weights and scores by label."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elmo_bench.records.run import Record

HELP = "show one run: scores, settings, curves, layer weights, confusions between labels, times"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", metavar="RUN", help="a record's file, or the first letters of a run's name or hash"
    )


def run(args: argparse.Namespace) -> int:
    from elmo_bench.report.find_record import find_record
    from elmo_bench.report.show_run import show_run
    from elmo_bench.report.terminal import new_console

    record, others = find_record(args.run)
    show_run(record, _baseline(record, others), new_console())
    return 0


def _baseline(record: "Record", others: list["Record"]) -> "Record | None":
    """The run of the same seed without ELMo; None if it is this one, or missing."""
    from elmo_bench.report.groups import Runs

    if record.elmo == "none":
        return None
    runs = Runs(others)
    for group in runs.all_groups:
        if any(one.run == record.run and one.source == record.source for one in group.records):
            partner = runs.baseline(group)
            found = [b for b in partner.records if b.seed == record.seed] if partner else []
            return found[0] if found else None
    return None
