"""`elmo-bench cache`: list, verify or clear the cache of frozen layers."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elmo_bench.features.cache import FeatureCache
    from elmo_bench.report.cells import Table

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
    from elmo_bench.features.cache import find_caches
    from elmo_bench.records.visible import visible
    from elmo_bench.report.terminal import new_console, show

    caches = [c for c in find_caches(args.root) if c.folder.name.startswith(args.name)]
    if not caches:
        named = f" named {args.name}*" if args.name else ""
        print(visible(f"no caches in {args.root}{named}"))
        return 0
    if args.action == "clear":
        for cache in caches:
            size = _disk_bytes(cache.folder)
            _remove(cache.folder)
            print(visible(f"removed {cache.folder.name}, {size / 1e6:,.1f} MB"))
        return 0
    damaged = [cache.damaged() for cache in caches] if args.action == "verify" else []
    show(_table(caches, damaged), new_console())
    if any(damaged):
        print(f"{sum(damaged)} damaged segments; the next run that needs them recomputes them.")
    return 1 if any(damaged) else 0


def _table(caches: "Sequence[FeatureCache]", damaged: "Sequence[int]") -> "Table":
    """A row per cache.

    Args:
        caches: To list.
        damaged: Damaged segments of each; empty if they were not verified.
    """
    from elmo_bench.report.cells import Table, count, decimal, word

    rows = []
    for cache in caches:
        info, entries = cache.info, cache.store.entries
        rows.append(
            {
                "name": word(cache.folder.name),
                "segments": count(len(entries)),
                "tokens": count(sum(entry.size for entry in entries.values()) // info.token_bytes),
                "layers": count(info.num_layers),
                "dim": count(info.dim),
                "dtype": word(info.dtype),
                "size": decimal(_disk_bytes(cache.folder) / 1e6, 1),
            }
        )
    for row, number in zip(rows, damaged, strict=False):
        row["damaged"] = count(number)
    columns = {
        "name": "name", "segments": "segments", "tokens": "tokens", "layers": "layers",
        "dim": "dim", "dtype": "dtype", "size": "MB", "damaged": "damaged",
    }  # fmt: skip
    narrow = ("dtype", "dim", "layers", "tokens")
    return Table("cache", "Caches of frozen layers", columns, rows, narrow=narrow)


def _disk_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder)
