"""`elmo-bench mini`: what the embedded benchmark is like, and a copy of it to look at."""

import argparse
from pathlib import Path

HELP = "describe the embedded benchmark, or write it to a folder"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    describe = actions.add_parser("describe", help="counts, ambiguity, baselines, examples")
    describe.add_argument("--cache", type=Path, default=Path("cache"), metavar="DIR")
    write = actions.add_parser("write", help="write all its files to a folder")
    write.add_argument("directory", type=Path, metavar="DIR")
    for action in (describe, write):
        action.add_argument("--seed", type=int, default=1, help="of the generated world")


def run(args: argparse.Namespace) -> int:
    from rich.console import Console

    from elmo_bench.mini.files import ensure_mini, write_mini
    from elmo_bench.mini.settings import MiniSettings

    console = Console()
    settings = MiniSettings(seed=args.seed)
    if args.action == "write":
        if args.directory.exists() and any(args.directory.iterdir()):
            raise ValueError(f"{args.directory} is not empty; name a new folder")
        with console.status("writing the benchmark"):
            write_mini(args.directory, settings)
        console.print(f"wrote the benchmark of seed {args.seed} to {args.directory}")
        return 0

    from elmo_bench.mini.describe import description

    with console.status("generating and counting"):
        parts = description(ensure_mini(args.cache, settings))
    for part in parts:
        console.print(part)
    return 0
