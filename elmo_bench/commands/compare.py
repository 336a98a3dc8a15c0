"""`elmo-bench compare`: the paper's tables, rebuilt from the run records."""

import argparse
import sys

from elmo_bench.report import selection
from elmo_bench.report.names import TABLES

HELP = "compare recorded runs with the paper in tables: gains, layers, placement, word vectors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    selection.add_arguments(parser)
    parser.add_argument(
        "--tables",
        choices=(*TABLES, "all"),
        default="main",
        help="main: scores with and without ELMo; groups: every group of runs and its settings; "
        "analysis: word senses and parts of speech by layer (default: %(default)s)",
    )
    parser.add_argument(
        "--format",
        choices=("rich", "md", "csv", "latex", "json"),
        default="rich",
        help="csv and json contain raw values, the others means ± standard deviations "
        "(default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    from elmo_bench.report import formats
    from elmo_bench.report.all_tables import build_tables

    records = selection.selected_records(args)
    names = TABLES if args.tables == "all" else (args.tables,)
    tables = build_tables(
        records, selection.selected_analyses(args), names, sorted(selection.names(args.task))
    )
    if args.format == "rich":
        from elmo_bench.report.terminal import new_console, show

        console = new_console()
        for table in tables:
            show(table, console)
    elif args.format == "json":
        sys.stdout.write(formats.as_json(tables))
    else:
        sys.stdout.write("\n".join(formats.ONE_BY_ONE[args.format](table) for table in tables))
    return 0
