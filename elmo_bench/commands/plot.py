"""`elmo-bench plot`: the paper's figures, redrawn from the run records."""

import argparse
from pathlib import Path

from elmo_bench.report import selection
from elmo_bench.report.names import FIGURES

HELP = "draw figures of recorded runs: gains, layer weights, learning curves, analyses and more"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("figure", choices=FIGURES, help="the figure to draw")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE",
        help="a .png, .svg or .pdf file (default: FIGURE.png)",
    )  # fmt: skip
    selection.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    records = selection.selected_records(args)

    from elmo_bench.report.figures.all_figures import figures
    from elmo_bench.report.figures.style import save, styled
    from elmo_bench.report.groups import Runs

    path = args.output or Path(f"{args.figure}.png")
    with styled():
        chosen = dict(figures(Runs(records), selection.selected_analyses(args)))
        save(chosen[args.figure](), path)
    print(path)
    return 0
