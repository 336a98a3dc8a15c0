"""`elmo-bench pos`: parts of speech by a linear classifier, layer by layer."""

import argparse
from pathlib import Path

HELP = "a linear part-of-speech classifier on every layer of a biLM, beside baselines"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bilm", help="a biLM folder, a name in results/bilm, or official_small ...")
    for split in ("train", "dev", "test"):
        parser.add_argument(
            f"--{split}", type=Path, metavar="FILE",
            help="CoNLL-2012 columns, plain or .gz (default: the embedded benchmark)",
        )  # fmt: skip
    parser.add_argument("--limit", type=int, metavar="N", help="the first N training sentences")
    parser.add_argument(
        "--vectors", type=Path, metavar="FILE",
        help="static vectors in GloVe's format, for one more baseline",
    )  # fmt: skip
    parser.add_argument("--cache", type=Path, default=Path("cache"), metavar="DIR")
    parser.add_argument("--results", type=Path, default=Path("results/analysis"), metavar="DIR")


def run(args: argparse.Namespace) -> int:
    """Dev stops the training of each classifier; test is read once."""
    from rich.console import Console

    from elmo_bench import BiLm
    from elmo_bench.analysis.pos_study import study_pos
    from elmo_bench.records.analysis import write_analysis
    from elmo_bench.report.analysis_tables import show_scores

    if args.limit is not None and args.limit < 1:
        raise ValueError(f"--limit {args.limit}: at least 1")
    files, data = _files(args)
    bilm = BiLm.load(args.bilm)
    found = study_pos(bilm, files, data, args.vectors, args.limit, cache=args.cache)
    show_scores([found], Console())
    print(write_analysis(found, args.results))
    return 0


def _files(args: argparse.Namespace) -> tuple[dict[str, Path], str]:
    """The file of each split, and a name for them."""
    from elmo_bench.records.analysis import data_name

    named = {split: getattr(args, split) for split in ("train", "dev", "test")}
    if all(named.values()):
        return named, data_name(args.train)
    if any(named.values()):
        raise ValueError(
            "--train, --dev and --test go together; without them all, the embedded "
            "benchmark is read"
        )
    from elmo_bench.mini.files import ensure_mini
    from elmo_bench.mini.settings import MiniSettings

    folder = ensure_mini(args.cache, MiniSettings()) / "srl"
    return {split: folder / f"{split}.gold_conll" for split in named}, "mini"
