"""`elmo-bench report`: all results on one HTML page that works offline."""

import argparse
from pathlib import Path

from elmo_bench.report import selection

HELP = "write a self-contained HTML page of tables, figures, runs and contrasting examples"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", default=Path("report.html"),
        help="the HTML file to write (default: %(default)s)",
    )  # fmt: skip
    selection.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    records = selection.selected_records(args)

    from elmo_bench.records.atomic import write_text
    from elmo_bench.report.page.build import build_page

    write_text(args.output, build_page(records, selection.selected_analyses(args)))
    print(args.output)
    return 0
