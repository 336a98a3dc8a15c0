"""All tables by name."""

from collections.abc import Callable, Iterable
from pathlib import Path

from elmo_bench.records import Record
from elmo_bench.report.ablations import layers_table, placement_table
from elmo_bench.report.cells import Table
from elmo_bench.report.groups import Runs
from elmo_bench.report.tables import groups_table, main_table
from elmo_bench.report.words import words_table

OTHERS: dict[str, Callable[[Runs], Table]] = {
    "layers": layers_table,
    "placement": placement_table,
    "words": words_table,
    "groups": groups_table,
}


def build_tables(
    records: Iterable[Record],
    directory: Path,
    names: Iterable[str] = ("main", *OTHERS),
    tasks: list[str] | None = None,
) -> list[Table]:
    """Build tables from records.

    Args:
        records: What to compare.
        directory: Where the records' test predictions lie.
        names: Which tables.
        tasks: Tasks that get a row in the main table even without runs; all if none are named.
    """
    runs = Runs(records)
    return [
        main_table(runs, directory, tasks or None) if name == "main" else OTHERS[name](runs)
        for name in names
    ]
