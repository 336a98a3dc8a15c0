"""`elmo-bench perplexity`: the perplexity of a biLM over its full vocabulary."""

import argparse
from pathlib import Path
from typing import Any

from elmo_bench.errors import UserError

HELP = "measure the perplexity of a biLM on text files: forward, backward and mean"
ROWS = 256  # of bilm-tf's bin/run_test.py


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bilm", help="a biLM folder or a name in results/bilm")
    parser.add_argument(
        "files", nargs="+", type=Path, help="one tokenized sentence per line; plain or .gz"
    )
    parser.add_argument(
        "--stateful", nargs="?", type=int, const=ROWS, metavar="ROWS",
        help="measure it as bilm-tf's run_test too: on rows of text that carry the LSTM states "
        "from sentence to sentence (default: %(const)s rows)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    """Print a row per file, with --stateful two; "unknown" are words not in the vocabulary."""
    import json

    from rich.console import Console
    from rich.table import Table

    from elmo_bench import BiLm

    if args.stateful is not None and args.stateful < 1:
        raise UserError(f"--stateful takes at least 1 row, not {args.stateful}")
    bilm = BiLm.load(args.bilm)
    results = {str(file): _measure(bilm, file, args.stateful) for file in args.files}
    if args.json:
        print(json.dumps(results, indent=2))
        return 0
    table = Table("file", "LSTM states", "predicted", "unknown %", "forward", "backward", "mean")
    for name, row in results.items():
        unknown = f"{row['unknown']:.2f}"
        table.add_row(name, "reset", f"{row['predicted']:,}", unknown, *_numbers(row))
        if "stateful" in row:
            carried = row["stateful"]
            table.add_row("", "carried", f"{carried['predicted']:,}", "", *_numbers(carried))
    Console().print(table)
    return 0


def _measure(bilm: Any, file: Path, rows: int | None) -> dict[str, Any]:
    from elmo_bench.bilm.perplexity import load_softmax, stream_nll, to_perplexity
    from elmo_bench.data.files import numbered_lines

    sentences = [words for _, line in numbered_lines(file) if (words := line.split())]
    tokens = [word for words in sentences for word in words]
    known = set(bilm.vocabulary or ())
    found = {
        "tokens": len(tokens),
        "predicted": len(tokens) + len(sentences),
        "unknown": 100 * sum(word not in known for word in tokens) / max(1, len(tokens)),
        **bilm.perplexity(sentences),
    }
    if rows is not None:
        totals = stream_nll(bilm, *load_softmax(bilm), sentences, rows)
        found["stateful"] = {"rows": rows, "predicted": int(totals[2]), **to_perplexity(totals)}
    return found


def _numbers(row: dict[str, Any]) -> list[str]:
    return [f"{row[key]:.2f}" for key in ("forward", "backward", "mean")]
