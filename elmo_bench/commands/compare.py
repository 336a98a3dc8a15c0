"""`elmo-bench compare`: the paper's tables from the records."""

import argparse
import sys

from elmo_bench.report import selection
from elmo_bench.report.names import TABLES

HELP = "tables of the recorded runs beside the paper's: gains, layers, placement, words"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    selection.add_arguments(parser)
    parser.add_argument(
        "--tables",
        choices=(*TABLES, "all"),
        default="main",
        help="main: with and without ELMo; groups: every group of runs and what it differs in; "
        "analysis: word senses and parts of speech by layer",
    )
    parser.add_argument(
        "--format",
        choices=("rich", "md", "csv", "latex", "json"),
        default="rich",
        help="csv and json have raw values, the others means ± standard deviations",
    )


def run(args: argparse.Namespace) -> int:
    from elmo_bench.report import formats
    from elmo_bench.report.all_tables import build_tables

    records = selection.selected_records(args)
    names = TABLES if args.tables == "all" else (args.tables,)
    tables = build_tables(records, args.directory, names, sorted(selection.names(args.task)))
    if args.format == "rich":
        console = formats.new_console()
        for table in tables:
            formats.show(table, console)
    elif args.format == "json":
        sys.stdout.write(formats.as_json(tables))
    else:
        sys.stdout.write("\n".join(formats.ONE_BY_ONE[args.format](table) for table in tables))
    return 0
