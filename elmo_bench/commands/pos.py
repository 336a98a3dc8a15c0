"""`elmo-bench pos`: part-of-speech tagging by a linear classifier on each layer."""

import argparse
from pathlib import Path

HELP = "train a linear part-of-speech classifier on every layer of a biLM, with baselines"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "bilm",
        help="a biLM folder, a name in results/bilm, a published biLM such as official_small, or a "
        "transformer's folder or Hub id",
    )
    for split in ("train", "dev", "test"):
        parser.add_argument(
            f"--{split}", type=Path, metavar="FILE",
            help="a CoNLL-2012 file, plain or .gz (default: the mini benchmark)",
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


def run(args: argparse.Namespace) -> int:
    """Train a classifier per layer, stopped by dev accuracy; test is scored once."""
    from elmo_bench.features.loading import load_encoder

    bilm = load_encoder(args.bilm)
    from rich.console import Console

    from elmo_bench.analysis.pos_study import study_pos
    from elmo_bench.records.analysis import write_analysis
    from elmo_bench.report.analysis_tables import show_scores

    if args.limit is not None and args.limit < 1:
        raise ValueError(f"--limit must be at least 1, not {args.limit}")
    files, data = _files(args)
    found = study_pos(bilm, files, data, args.vectors, args.limit, cache=args.cache)
    show_scores([found], Console())
    print(write_analysis(found, args.results))
    return 0


def _files(args: argparse.Namespace) -> tuple[dict[str, Path], str]:
    """Return the file of each split, and the name of the data."""
    from elmo_bench.records.analysis import data_name

    named = {split: getattr(args, split) for split in ("train", "dev", "test")}
    if all(named.values()):
        return named, data_name(args.train)
    if any(named.values()):
        raise ValueError(
            "give --train, --dev and --test together, or none of them for the mini benchmark"
        )
    from elmo_bench.mini.files import ensure_mini
    from elmo_bench.mini.settings import MiniSettings

    folder = ensure_mini(args.cache, MiniSettings()) / "srl"
    return {split: folder / f"{split}.gold_conll" for split in named}, "mini"
