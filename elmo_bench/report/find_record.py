"""Finds the record of a run by what a user calls it."""

from pathlib import Path

from elmo_bench.errors import UserError
from elmo_bench.records.run import Record, read_record, read_records
from elmo_bench.report.selection import REFERENCE, RUNS

SHOWN = 10  # runs in an error message


def find_record(name: str) -> tuple[Record, list[Record]]:
    """A run, and the records among which its baseline is.

    Args:
        name: A record's file, or the beginning of a run's name or hash; yours come before those
            that ship.
    """
    path = Path(name)
    if path.suffix == ".json" and path.exists():
        return read_record(path), read_records(path.parent)
    wanted = path.name.removesuffix(".json")
    known: list[str] = []
    for folder in (RUNS, REFERENCE):
        records = read_records(folder)
        names = {record.file_name.removesuffix(".json"): record for record in records}
        exact = [record for title, record in names.items() if wanted in (title, record.run)]
        found = exact or [
            record
            for title, record in names.items()
            if title.startswith(wanted) or record.run.startswith(wanted)
        ]
        if len(found) == 1:
            return found[0], records
        if found:
            several = ", ".join(record.file_name.removesuffix(".json") for record in found)
            raise UserError(f"several runs in {folder} begin with {wanted!r}: {several}")
        known += names
    listed = ", ".join(known[:SHOWN]) or "none; `python run.py task=ner` makes one"
    if len(known) > SHOWN:
        listed += f" and {len(known) - SHOWN} more (elmo-bench compare --tables groups)"
    raise UserError(f"no run begins with {wanted!r}. The runs are: {listed}")
