"""`elmo-bench redact`: make records shareable when their corpus is not."""

import argparse
from pathlib import Path

from elmo_bench.errors import UserError

HELP = "remove corpus text from stored test predictions; significance tests remain possible"
ENDING = ".predictions.jsonl.gz"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("record", nargs="+", type=Path, help="a record (.json) or its predictions")
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path,
        help="leave the originals as they are, and write redacted copies to this folder, such as "
        "results/reference/runs; failed runs are skipped",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from elmo_bench.records.predictions import redact_text

    for given in args.record:
        name = given.name.removesuffix(ENDING).removesuffix(".json")
        record, predictions = given.with_name(f"{name}.json"), given.with_name(f"{name}{ENDING}")
        if args.output is not None:
            _copy(record, predictions, args.output)
            continue
        if not predictions.is_file():
            raise UserError(f"there is no {predictions}; predictions must be next to their record")
        redact_text(predictions)
        print(predictions)
    return 0


def _copy(path: Path, predictions: Path, folder: Path) -> None:
    """Write a record and redacted predictions to a folder, without the paths of this machine."""
    from dataclasses import replace

    from elmo_bench.records.predictions import redact_text
    from elmo_bench.records.run import read_record, write_record

    record = read_record(path)
    if record.error is not None:
        print(f"{path} is skipped: the run failed")
        return
    if record.predictions is not None:  # first, so that the record never stands alone
        redact_text(predictions, folder / predictions.name)
    overrides = [word for word in record.overrides if not word.lstrip("+").startswith("paths.")]
    print(write_record(replace(record, overrides=overrides), folder))
