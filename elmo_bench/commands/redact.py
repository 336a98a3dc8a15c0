"""`elmo-bench redact`: make records shareable when their corpus is not."""

import argparse
from pathlib import Path

from elmo_bench.errors import UserError

HELP = "remove corpus text from stored test predictions; significance tests remain possible"
ENDING = ".predictions.jsonl.gz"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("record", nargs="+", type=Path, help="a record (.json) or its predictions")


def run(args: argparse.Namespace) -> int:
    from elmo_bench.records.predictions import redact_text

    for record in args.record:
        path = record if record.name.endswith(ENDING) else record.with_suffix(ENDING)
        if not path.is_file():
            raise UserError(f"there is no {path}; predictions must be next to their record")
        redact_text(path)
        print(path)
    return 0
