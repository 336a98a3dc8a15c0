"""`elmo-bench wsd`: word senses by the nearest vector, layer by layer."""

import argparse
from pathlib import Path

HELP = "word sense disambiguation with every layer of a biLM, beside baselines"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bilm", help="a biLM folder, a name in results/bilm, or official_small ...")
    parser.add_argument(
        "--train", type=Path, metavar="FILE",
        help=".jsonl, .jsonl.gz, or NAME.data.xml with NAME.gold.key.txt beside it "
        "(default: the embedded benchmark)",
    )  # fmt: skip
    parser.add_argument("--test", type=Path, nargs="+", metavar="FILE", help="of the same kinds")
    parser.add_argument(
        "--nearest", nargs="+", choices=("sense", "instance"), default=["sense"],
        help="sense (default): the mean of a sense's training vectors; instance: any of them",
    )  # fmt: skip
    parser.add_argument(
        "--center", nargs="+", choices=("no", "yes"), default=["no"],
        help="yes: take away the mean of the word's training vectors first (no)",
    )  # fmt: skip
    parser.add_argument(
        "--window", nargs="+", type=int, default=[0], metavar="N",
        help="average the word's vector with N on either side (0)",
    )  # fmt: skip
    parser.add_argument(
        "--vectors", type=Path, metavar="FILE",
        help="static vectors in GloVe's format, for one more baseline",
    )  # fmt: skip
    parser.add_argument(
        "--wordnet", type=Path, metavar="FILE",
        help="WordNet's index.sense: its first senses instead of the training data's",
    )  # fmt: skip
    parser.add_argument("--cache", type=Path, default=Path("cache"), metavar="DIR")
    parser.add_argument("--results", type=Path, default=Path("results/analysis"), metavar="DIR")


def run(args: argparse.Namespace) -> int:
    """Every combination of the given ways to choose a sense is scored and recorded."""
    from itertools import product

    from rich.console import Console

    from elmo_bench import BiLm
    from elmo_bench.analysis.wsd import Method
    from elmo_bench.analysis.wsd_study import study_senses
    from elmo_bench.records.analysis import write_analysis
    from elmo_bench.report.analysis_tables import show_scores

    if min(args.window) < 0:
        raise ValueError(f"--window {min(args.window)}: at least 0")
    train, tests, data = _files(args)
    ways = product(args.nearest, (answer == "yes" for answer in args.center), args.window)
    methods = list(dict.fromkeys(Method(*way) for way in ways))
    bilm = BiLm.load(args.bilm)
    found = study_senses(bilm, train, tests, data, methods, args.vectors, args.wordnet, args.cache)
    show_scores(found, Console())
    for analysis in found:
        print(write_analysis(analysis, args.results))
    return 0


def _files(args: argparse.Namespace) -> tuple[Path, list[Path], str]:
    """Training file, test files and a name for them."""
    from elmo_bench.records.analysis import data_name

    if args.train and args.test:
        return args.train, args.test, data_name(args.train)
    if args.train or args.test:
        raise ValueError(
            "--train and --test go together; without both, the embedded benchmark is read"
        )
    from elmo_bench.mini.files import ensure_mini
    from elmo_bench.mini.settings import MiniSettings

    folder = ensure_mini(args.cache, MiniSettings()) / "wsd"
    return folder / "train.jsonl", [folder / "test.jsonl"], "mini"
