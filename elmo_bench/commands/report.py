"""`elmo-bench report`: everything on one page that opens offline."""

import argparse
from pathlib import Path

from elmo_bench.report import selection

HELP = (
    "one self-contained HTML page: tables, figures, runs, examples where ELMo and baseline differ"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", default=Path("report.html"),
        help="the page (report.html)",
    )  # fmt: skip
    selection.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    records = selection.selected_records(args)

    from elmo_bench.records.files import write_text
    from elmo_bench.report.page.build import build_page

    write_text(args.output, build_page(records, args.directory))
    print(args.output)
    return 0
