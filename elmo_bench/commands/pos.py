"""`elmo-bench pos`: part-of-speech tagging by a linear classifier on each layer."""

import argparse
from pathlib import Path

from elmo_bench.config.device_argument import add_device
from elmo_bench.errors import UserError

HELP = "train a linear part-of-speech classifier on every layer of a biLM, with baselines"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "bilm",
        help="a biLM folder, a name in results/bilm, a published biLM such as official_small, or a "
        "transformer's folder or Hub id",
    )
    for split, default in (
        ("train", "the mini benchmark"),
        ("dev", "every tenth sentence of --train"),
        ("test", "the mini benchmark"),
    ):
        parser.add_argument(
            f"--{split}", type=Path, metavar="FILE",
            help=f"CoNLL-2012 or other columns, plain or .gz (default: {default})",
        )  # fmt: skip
    parser.add_argument(
        "--columns", nargs=2, type=int, default=[1, 2], metavar=("WORD", "TAG"),
        help="where words and tags are in a file that is not CoNLL-2012, counted from 1 "
        "(default: 1 2, as in CoNLL-2000)",
    )  # fmt: skip
    parser.add_argument(
        "--limit", type=int, metavar="N",
        help="use only the first N training sentences (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--vectors", type=Path, metavar="FILE",
        help="static vectors in GloVe's format for an additional baseline",
    )  # fmt: skip
    parser.add_argument(
        "--cache", type=Path, default=Path("cache"), metavar="DIR",
        help="folder for temporary vectors and the mini benchmark (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--results", type=Path, default=Path("results/analysis"), metavar="DIR",
        help="folder to record the result in (default: %(default)s)",
    )  # fmt: skip
    add_device(parser)


def run(args: argparse.Namespace) -> int:
    """Train a classifier per layer, stopped by dev accuracy; test is scored once."""
    from elmo_bench.features.loading import load_encoder

    bilm = load_encoder(args.bilm, args.device)
    from elmo_bench.analysis.pos_study import study_pos
    from elmo_bench.analysis.tagged import Columns
    from elmo_bench.records.analysis import write_analysis
    from elmo_bench.report.analysis_tables import show_scores
    from elmo_bench.report.terminal import new_console

    if args.limit is not None and args.limit < 1:
        raise UserError(f"--limit must be at least 1, not {args.limit}")
    columns = Columns(*args.columns)
    if min(columns) < 1:
        raise UserError(f"--columns are counted from 1, not {min(columns)}")
    files, data = _files(args)
    found = study_pos(
        bilm, files, data, args.vectors, args.limit, cache=args.cache, columns=columns
    )
    show_scores([found], new_console())
    print(write_analysis(found, args.results))
    return 0


def _files(args: argparse.Namespace) -> tuple[dict[str, Path], str]:
    """Return the file of each split, and the name of the data."""
    from elmo_bench.records.analysis import data_name

    named = {split: getattr(args, split) for split in ("train", "dev", "test")}
    if args.train and args.test:
        return {split: path for split, path in named.items() if path}, data_name(args.train)
    if any(named.values()):
        raise UserError(
            "give --train and --test together, or none of the files for the mini benchmark"
        )
    from elmo_bench.mini.files import ensure_mini
    from elmo_bench.mini.settings import MiniSettings

    folder = ensure_mini(args.cache, MiniSettings()) / "srl"
    return {split: folder / f"{split}.gold_conll" for split in named}, "mini"
