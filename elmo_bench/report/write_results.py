"""Writes the tables and figures of results/reference and those in documents: `make report`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from elmo_bench.records.analysis import Analysis, read_analyses
from elmo_bench.records.atomic import write_text
from elmo_bench.records.run import Record, read_records
from elmo_bench.report.all_tables import OF_ANALYSES, build_tables
from elmo_bench.report.documents import DOCUMENTS, with_tables
from elmo_bench.report.figures.all_figures import figures
from elmo_bench.report.figures.style import save, styled
from elmo_bench.report.formats import markdown
from elmo_bench.report.groups import Runs
from elmo_bench.report.names import TABLES


def write_results(source: Path, results: Path) -> list[Path]:
    """Write tables/*.md and figures/*.svg; the same runs give the same bytes.

    Runs on the mini benchmark and on open corpora are in folders of their own. Tables and figures
    without runs are not written, and old files of them are removed.

    Args:
        source: A folder with records of runs in runs/ and of analyses in analysis/.
        results: The folder to write to.
    """
    kinds, analyses = records_by_kind(source), read_analyses(source / "analysis")
    mini, others = kinds["mini"], kinds["open"]
    tasks = sorted({record.task for record in others})
    of_runs = [name for name in TABLES if name not in OF_ANALYSES]
    written = [
        *_write(results, "mini", mini, [], of_runs),
        *(_write(results, "open", others, [], of_runs, tasks) if others else []),
        *_write(results, "", [], analyses, list(OF_ANALYSES)),
    ]
    for old in [*(results / "tables").rglob("*.md"), *(results / "figures").rglob("*.svg")]:
        if old not in written:
            old.unlink()
    return written


def records_by_kind(source: Path) -> dict[str, list[Record]]:
    """The records in runs/ on the mini benchmark, and those on open corpora."""
    kinds: dict[str, list[Record]] = {"mini": [], "open": []}
    for record in read_records(source / "runs"):
        is_mini = record.config.get("data", {}).get("kind") == "mini"
        kinds["mini" if is_mini else "open"].append(record)
    return kinds


def write_documents(source: Path, root: Path) -> list[Path]:
    """Make the tables in documents anew, such as those of the README."""
    kinds = records_by_kind(source)
    for path in (written := [root / name for name in DOCUMENTS]):
        write_text(path, with_tables(path.read_text(encoding="utf-8"), kinds))
    return written


def _write(
    results: Path,
    folder: str,
    records: Sequence[Record],
    analyses: list[Analysis],
    names: list[str],
    tasks: list[str] | None = None,
) -> Iterator[Path]:
    """Write the tables of these names and all figures that there are runs or analyses for."""
    for table in build_tables(records, analyses, names, tasks):
        if table.rows:
            path = results / "tables" / folder / f"{table.name}.md"
            write_text(path, markdown(table))
            yield path
    with styled():
        for name, draw in figures(Runs(records), analyses):
            path = results / "figures" / folder / f"{name}.svg"
            try:
                figure = draw()
            except ValueError:
                continue
            save(figure, path)
            yield path


if __name__ == "__main__":
    REFERENCE = Path("results/reference")
    for path in write_results(REFERENCE, REFERENCE) + write_documents(REFERENCE, Path()):
        print(path)
