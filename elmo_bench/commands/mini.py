"""`elmo-bench mini`: describe the mini benchmark, or write a copy of it."""

import argparse
from pathlib import Path

from elmo_bench.errors import UserError

HELP = "describe the mini benchmark, or write it to a folder"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    describe = actions.add_parser(
        "describe", help="print counts, ambiguity, baselines and examples"
    )
    describe.add_argument(
        "--cache", type=Path, default=Path("cache"), metavar="DIR",
        help="folder in which the benchmark is generated (default: %(default)s)",
    )  # fmt: skip
    write = actions.add_parser("write", help="write all files to a folder")
    write.add_argument("directory", type=Path, metavar="DIR", help="a new or empty folder")
    for action in (describe, write):
        action.add_argument(
            "--seed",
            type=int,
            default=1,
            help="random seed of the generated world (default: %(default)s)",
        )


def run(args: argparse.Namespace) -> int:
    from rich.console import Console

    from elmo_bench.mini.files import ensure_mini, write_mini
    from elmo_bench.mini.settings import MiniSettings

    console = Console()
    settings = MiniSettings(seed=args.seed)
    if args.action == "write":
        if args.directory.exists() and any(args.directory.iterdir()):
            raise UserError(f"{args.directory} is not empty; choose a new folder")
        with console.status("writing the benchmark"):
            write_mini(args.directory, settings)
        console.print(f"wrote the benchmark with seed {args.seed} to {args.directory}")
        return 0

    from elmo_bench.mini.describe import description

    with console.status("generating and counting"):
        parts = description(ensure_mini(args.cache, settings))
    for part in parts:
        console.print(part)
    return 0
