"""Which records a command reads: filters by task, data, encoder and date."""

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from elmo_bench.errors import UserError
from elmo_bench.records.analysis import Analysis, read_analyses
from elmo_bench.records.run import Record, read_records
from elmo_bench.report.groups import ELMO_KEYS, key_of

RUNS = Path("results/runs")  # where run.py writes them by default
REFERENCE = Path("results/reference/runs")  # those that ship with the project


@dataclass(frozen=True)
class Selection:
    """Filters of records; an empty one excludes nothing.

    Args:
        since: Runs that ended before this are left out.
        until: Runs that ended at this time or later are left out.
    """

    tasks: frozenset[str] = frozenset()
    data: frozenset[str] = frozenset()
    bilms: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None

    def __call__(self, records: Iterable[Record]) -> list[Record]:
        """The records that pass the filters, and the baselines that they are compared with."""
        named = [record for record in records if self._is_named(record)]
        kept = [record for record in named if self._is_in_time(record)]
        contexts = {_context(record) for record in kept if record.elmo != "none"}
        return [
            record
            for record in named
            if self._is_in_time(record) or (record.elmo == "none" and _context(record) in contexts)
        ]

    def _is_named(self, record: Record) -> bool:
        return (
            (not self.tasks or record.task in self.tasks)
            and (not self.data or not self.data.isdisjoint(_data_names(record)))
            and (not self.bilms or record.bilm is None or record.bilm in self.bilms)
        )

    def _is_in_time(self, record: Record) -> bool:
        if self.since is None and self.until is None:
            return True
        if not record.finished:
            return False
        finished = _utc(datetime.fromisoformat(record.finished))
        return (self.since is None or finished >= self.since) and (
            self.until is None or finished < self.until
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder and the filters that compare, plot and report share."""
    parser.add_argument(
        "directory", metavar="DIR", nargs="?", type=Path,
        help=f"only the records of this folder (default: {RUNS} and {REFERENCE})",
    )  # fmt: skip
    for name, words in (
        ("task", "tasks"),
        ("data", "corpora, by name or kind (mini, files, hub)"),
        ("bilm", "encoders"),
    ):
        parser.add_argument(
            f"--{name}", metavar="NAME[,NAME]", default="", help=f"only these {words}"
        )
    parser.add_argument("--since", metavar="DATE", help="only runs that ended on this day or later")
    parser.add_argument(
        "--until", metavar="DATE", help="only runs that ended on this day or before"
    )


def selected_records(args: argparse.Namespace) -> list[Record]:
    """Read the records that the arguments select."""
    until = _date(args.until, "--until")
    if until is not None and len(args.until) <= len("2018-02-15"):
        until += timedelta(days=1)
    choose = Selection(
        tasks=names(args.task),
        data=names(args.data),
        bilms=names(args.bilm),
        since=_date(args.since, "--since"),
        until=until,
    )
    return choose(record for folder in _folders(args) for record in read_records(folder))


def selected_analyses(args: argparse.Namespace) -> list[Analysis]:
    """Read the analyses beside the records; of the filters, only the encoder's applies to them."""
    encoders = names(args.bilm)
    return [
        found
        for folder in _folders(args)
        for found in read_analyses(folder.parent / "analysis")
        if not encoders or found.bilm in encoders
    ]


def _folders(args: argparse.Namespace) -> list[Path]:
    if args.directory is None:
        return [RUNS, REFERENCE]
    if not args.directory.is_dir():
        raise FileNotFoundError(f"{args.directory}: no such folder of records")
    return [args.directory]


def _data_names(record: Record) -> set[str]:
    """What `--data` calls a corpus: its name, or its option (mini, files, hub) for all of that."""
    return {record.data, str(record.config.get("data", {}).get("kind"))}


def _context(record: Record) -> str:
    return key_of(record.config, *ELMO_KEYS)


def names(text: str) -> frozenset[str]:
    """The names in a comma-separated option."""
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def _date(text: str | None, option: str) -> datetime | None:
    if text is None:
        return None
    try:
        return _utc(datetime.fromisoformat(text))
    except ValueError as error:
        raise UserError(f"{option} {text}: not a date like 2018-02-15 ({error})") from error


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
