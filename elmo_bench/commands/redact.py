"""`elmo-bench strip`: records that can be shared when their corpus cannot."""

import argparse
from pathlib import Path

HELP = "take the corpus text out of stored test predictions; tests of significance stay possible"
ENDING = ".predictions.jsonl.gz"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("record", nargs="+", type=Path, help="records (.json) or their predictions")


def run(args: argparse.Namespace) -> int:
    from elmo_bench.report.predictions import redact_text

    for record in args.record:
        path = record if record.name.endswith(ENDING) else record.with_suffix(ENDING)
        if not path.is_file():
            raise ValueError(f"there is no {path}; a record's predictions lie beside it")
        redact_text(path)
        print(path)
    return 0
