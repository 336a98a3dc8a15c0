"""`elmo-bench perplexity`: the perplexity of a biLM over its full vocabulary."""

import argparse
from pathlib import Path

from elmo_bench.config.device_argument import add_device

HELP = "measure the perplexity of a biLM on text files: forward, backward and mean"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bilm", help="a biLM folder or a name in results/bilm")
    parser.add_argument(
        "files", nargs="+", type=Path, help="one tokenized sentence per line; plain or .gz"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_device(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per file; "unknown" is the percentage of tokens not in the vocabulary."""
    import json

    from rich.console import Console
    from rich.table import Table

    from elmo_bench import BiLm
    from elmo_bench.data.files import numbered_lines

    bilm = BiLm.load(args.bilm, args.device)
    known = set(bilm.vocabulary or ())
    results = {}
    for file in args.files:
        sentences = [words for _, line in numbered_lines(file) if (words := line.split())]
        tokens = [word for words in sentences for word in words]
        unknown = sum(word not in known for word in tokens)
        scores = {"tokens": len(tokens), "unknown": 100 * unknown / max(1, len(tokens))}
        results[str(file)] = {**scores, **bilm.perplexity(sentences)}
    if args.json:
        print(json.dumps(results, indent=2))
        return 0
    table = Table("file", "tokens", "unknown %", "forward", "backward", "mean")
    for name, row in results.items():
        numbers = (f"{row[key]:.2f}" for key in ("unknown", "forward", "backward", "mean"))
        table.add_row(name, f"{row['tokens']:,}", *numbers)
    Console().print(table)
    return 0
