"""`elmo-bench perplexity`: the perplexity of a biLM over its full vocabulary."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_bench.config.device_argument import add_device
from elmo_bench.errors import UserError

if TYPE_CHECKING:
    from elmo_bench.report.cells import Table

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
    add_device(parser)


def run(args: argparse.Namespace) -> int:
    """Print a row per file, with --stateful two; "unknown" are words not in the vocabulary."""
    import json

    from elmo_bench import BiLm
    from elmo_bench.report.terminal import new_console, show

    if args.stateful is not None and args.stateful < 1:
        raise UserError(f"--stateful takes at least 1 row, not {args.stateful}")
    bilm = BiLm.load(args.bilm, args.device)
    results = {str(file): _measure(bilm, file, args.stateful) for file in args.files}
    if args.json:
        print(json.dumps(results, indent=2))
        return 0
    show(_table(results), new_console())
    return 0


def _table(results: dict[str, dict[str, Any]]) -> "Table":
    from elmo_bench.report.cells import Cell, Table, count, decimal, word

    def numbers(row: dict[str, Any]) -> dict[str, Cell]:
        means = {key: decimal(row[key]) for key in ("forward", "backward", "mean")}
        return {"predicted": count(row["predicted"]), **means}

    rows = []
    for name, row in results.items():
        first = {"file": word(name), "states": word("reset"), "unknown": decimal(row["unknown"])}
        rows.append(first | numbers(row))
        if "stateful" in row:
            again = {"file": word(name), "states": word("carried")}
            rows.append(again | numbers(row["stateful"]))
    columns = {
        "file": "file", "states": "LSTM states", "predicted": "predicted", "unknown": "unknown %",
        "forward": "forward", "backward": "backward", "mean": "mean",
    }  # fmt: skip
    return Table("perplexity", "Perplexity", columns, rows, narrow=("unknown", "predicted"))


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
