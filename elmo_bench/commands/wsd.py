"""`elmo-bench wsd`: word sense disambiguation by the nearest vector at each layer."""

import argparse
from pathlib import Path

from elmo_bench.config.device_argument import add_device
from elmo_bench.errors import UserError

HELP = "disambiguate word senses with every layer of a biLM, with baselines"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "bilm",
        help="a biLM folder, a name in results/bilm, a published biLM such as official_small, or a "
        "transformer's folder or Hub id",
    )
    parser.add_argument(
        "--train", type=Path, metavar="FILE",
        help=".jsonl, or NAME.data.xml with NAME.gold.key.txt next to it, plain or .gz "
        "(default: the mini benchmark)",
    )  # fmt: skip
    parser.add_argument(
        "--test", type=Path, nargs="+", metavar="FILE",
        help="one or more files in the same formats (default: the mini benchmark)",
    )  # fmt: skip
    parser.add_argument(
        "--nearest", nargs="+", choices=("sense", "instance"), default=["sense"],
        help="compare with the mean training vector of each sense, or with each training instance; "
        "of several values here and below, every combination is scored (default: sense)",
    )  # fmt: skip
    parser.add_argument(
        "--center", nargs="+", choices=("no", "yes"), default=["no"],
        help="subtract the mean of the word's training vectors first (default: no)",
    )  # fmt: skip
    parser.add_argument(
        "--window", nargs="+", type=int, default=[0], metavar="N",
        help="average the vectors of the word and N words on either side (default: 0)",
    )  # fmt: skip
    parser.add_argument(
        "--vectors", type=Path, metavar="FILE",
        help="static vectors in GloVe's format for an additional baseline",
    )  # fmt: skip
    parser.add_argument(
        "--wordnet", type=Path, metavar="DIR",
        help="the folder of WordNet's index.sense; its first senses replace the most frequent ones "
        "of the training data as baseline and back-off",
    )  # fmt: skip
    parser.add_argument(
        "--cache", type=Path, default=Path("cache"), metavar="DIR",
        help="folder for temporary vectors and the mini benchmark (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--results", type=Path, default=Path("results/analysis"), metavar="DIR",
        help="folder to record the results in (default: %(default)s)",
    )  # fmt: skip
    add_device(parser)


def run(args: argparse.Namespace) -> int:
    """Score and record every combination of the given methods."""
    from elmo_bench.features.loading import load_encoder

    bilm = load_encoder(args.bilm, args.device)
    from itertools import product

    from elmo_bench.analysis.wsd import Method
    from elmo_bench.analysis.wsd_study import study_senses
    from elmo_bench.records.analysis import write_analysis
    from elmo_bench.report.analysis_tables import show_scores
    from elmo_bench.report.terminal import new_console

    if min(args.window) < 0:
        raise UserError(f"--window must be at least 0, not {min(args.window)}")
    train, tests, data = _files(args)
    ways = product(args.nearest, (answer == "yes" for answer in args.center), args.window)
    methods = list(dict.fromkeys(Method(*way) for way in ways))
    found = study_senses(bilm, train, tests, data, methods, args.vectors, args.wordnet, args.cache)
    show_scores(found, new_console())
    for analysis in found:
        print(write_analysis(analysis, args.results))
    return 0


def _files(args: argparse.Namespace) -> tuple[Path, list[Path], str]:
    """Return the training file, the test files and the name of the data."""
    from elmo_bench.records.analysis import data_name

    if args.train and args.test:
        return args.train, args.test, data_name(args.train)
    if args.train or args.test:
        raise UserError("give --train and --test together, or neither for the mini benchmark")
    from elmo_bench.mini.files import ensure_mini
    from elmo_bench.mini.settings import MiniSettings

    folder = ensure_mini(args.cache, MiniSettings()) / "wsd"
    return folder / "train.jsonl", [folder / "test.jsonl"], "mini"
