"""`elmo-bench cache`: list, verify or clear the cache of frozen layers."""

import argparse
from pathlib import Path

HELP = "list, verify or clear the cache of frozen layers"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=["ls", "verify", "clear"], default="ls",
        help="list the caches, verify their contents, or delete them (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "name", nargs="?", default="", help="only caches whose name starts with this (default: all)"
    )
    parser.add_argument(
        "--root", type=Path, default=Path("cache/features"), metavar="DIR",
        help="folder of the caches (default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.table import Table

    from elmo_bench.features.cache import FeatureCache, find_caches

    console = Console()
    caches = [c for c in find_caches(args.root) if c.folder.name.startswith(args.name)]
    if not caches:
        console.print(f"no caches in {args.root}" + (f" named {args.name}*" if args.name else ""))
        return 0

    if args.action == "clear":
        for cache in caches:
            size = _disk_bytes(cache.folder)
            _remove(cache.folder)
            console.print(f"removed {cache.folder.name}, {size / 1e6:,.1f} MB")
        return 0

    def tokens(cache: FeatureCache) -> int:
        return sum(entry.size for entry in cache.store.entries.values()) // cache.info.token_bytes

    table = Table("name", "segments", "tokens", "layers", "dim", "dtype", "MB")
    if args.action == "verify":
        table.add_column("damaged")
    num_damaged = 0
    for cache in caches:
        info, segments = cache.info, len(cache.store.entries)
        row = [cache.folder.name, f"{segments:,}", f"{tokens(cache):,}", str(info.num_layers)]
        row += [str(info.dim), info.dtype, f"{_disk_bytes(cache.folder) / 1e6:,.1f}"]
        if args.action == "verify":
            damaged = cache.damaged()
            num_damaged += damaged
            row.append(str(damaged))
        table.add_row(*row)
    console.print(table)
    if num_damaged:
        console.print(
            f"{num_damaged} damaged segments; the next run that needs them will recompute them."
        )
    return 1 if num_damaged else 0


def _disk_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder)
