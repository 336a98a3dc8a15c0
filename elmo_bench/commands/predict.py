"""`elmo-bench predict`: a trained model on new text."""

import argparse
import sys
from pathlib import Path

HELP = "use a trained model on new text, from a file or the terminal"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run's folder, its record, or its hash")
    parser.add_argument("file", nargs="?", default="-", help="one example per line; - is stdin")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of the runs")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def run(args: argparse.Namespace) -> int:
    from elmo_bench.runs.predict import find_run, print_predictions

    folder = find_run(args.run, args.outputs)
    if args.file != "-":
        with Path(args.file).open(encoding="utf-8") as lines:
            print_predictions(folder, lines, args.json)
        return 0
    if sys.stdin.isatty():
        print("One example per line; Ctrl-D ends.", file=sys.stderr)
    print_predictions(folder, sys.stdin, args.json)
    return 0
