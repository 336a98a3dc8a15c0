"""`elmo-bench predict`: run a trained model on new text."""

import argparse
import sys
from pathlib import Path

from elmo_bench.config.device_argument import add_device

HELP = "run a trained model on new text, from a file or standard input"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", metavar="RUN", help="a run's folder, its name or hash, or how these begin"
    )
    parser.add_argument(
        "file", nargs="?", default="-", help="one example per line (default: -, standard input)"
    )
    parser.add_argument(
        "--outputs", type=Path, default=Path("outputs"), metavar="DIR",
        help="folder in which runs are looked up (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    add_device(parser)


def run(args: argparse.Namespace) -> int:
    from elmo_bench.runs.files import find_run

    folder = find_run(args.run, args.outputs)
    if args.file != "-":
        Path(args.file).open().close()  # raises if it is missing
    from elmo_bench.runs.predict import Predictor, print_predictions  # torch takes seconds

    predictor = Predictor(folder, args.device)
    if args.file != "-":
        with Path(args.file).open(encoding="utf-8") as lines:
            print_predictions(predictor, lines, args.json)
        return 0
    if sys.stdin.isatty():
        example = predictor.task.example_text
        print(f"Enter one example per line, such as: {example}", file=sys.stderr)
        print("Ctrl-D ends the input.", file=sys.stderr)
    print_predictions(predictor, sys.stdin, args.json)
    return 0
