"""`elmo-bench plot`: the paper's figures, redrawn from the run records."""

import argparse
from pathlib import Path

from elmo_bench.errors import UserError
from elmo_bench.report import selection
from elmo_bench.report.names import FIGURES, PRETRAINING

HELP = "draw figures of recorded runs: gains, layer weights, learning curves, analyses and more"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "figure", choices=[*FIGURES, PRETRAINING],
        help=f"the figure to draw; {PRETRAINING} is of a biLM, whose folder is DIR",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE",
        help="a .png, .svg or .pdf file (default: FIGURE.png)",
    )  # fmt: skip
    selection.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    path = args.output or Path(f"{args.figure}.png")
    draw = _of_bilm if args.figure == PRETRAINING else _of_records
    draw(args, path)
    print(path)
    return 0


def _of_records(args: argparse.Namespace, path: Path) -> None:
    records = selection.selected_records(args)

    from elmo_bench.report.figures.all_figures import figures
    from elmo_bench.report.figures.style import save, styled
    from elmo_bench.report.groups import Runs

    with styled():
        chosen = dict(figures(Runs(records), selection.selected_analyses(args)))
        save(chosen[args.figure](), path)


def _of_bilm(args: argparse.Namespace, path: Path) -> None:
    if args.directory is None:
        raise UserError(
            f"{PRETRAINING} is a figure of a biLM; name its folder, as in "
            f"elmo-bench plot {PRETRAINING} results/bilm/mini"
        )
    from elmo_bench.bilm.training_file import read_training
    from elmo_bench.report.figures.pretraining import draw
    from elmo_bench.report.figures.style import save, styled

    training = read_training(args.directory)
    tokens = training.tokens / max(1, training.steps)  # of a step
    losses = [(step * tokens, loss) for step, loss in training.losses]
    perplexities = [(row.step * tokens, row.perplexity) for row in training.history]
    with styled():
        save(draw(args.directory.resolve().name, losses, perplexities), path)
