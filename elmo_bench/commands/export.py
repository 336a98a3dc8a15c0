"""`elmo-bench export`: write a biLM in the official format, for bilm-tf, AllenNLP and others."""

import argparse
from pathlib import Path

HELP = "write a biLM in the official format, options.json and weights.hdf5"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bilm", help="a biLM folder or a name in results/bilm")
    parser.add_argument("folder", type=Path, help="the folder to write the files to")


def run(args: argparse.Namespace) -> int:
    from elmo_bench import BiLm

    bilm = BiLm.load(args.bilm)
    args.folder.mkdir(parents=True, exist_ok=True)
    bilm.dump_official(args.folder / "options.json", args.folder / "weights.hdf5")
    print(f"{args.folder}: options.json, weights.hdf5 ({bilm.num_parameters:,} parameters)")
    if bilm.vocabulary is not None:
        path = args.folder / "vocabulary.txt"
        path.write_text("".join(f"{word}\n" for word in bilm.vocabulary), encoding="utf-8")
    return 0
