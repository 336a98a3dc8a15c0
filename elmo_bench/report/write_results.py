"""Writes the tables and figures of results/reference from its records: `make report`."""

from pathlib import Path

from elmo_bench.records.analysis import read_analyses
from elmo_bench.records.atomic import write_text
from elmo_bench.records.run import read_records
from elmo_bench.report.all_tables import build_tables
from elmo_bench.report.figures.all_figures import figures
from elmo_bench.report.figures.style import save, styled
from elmo_bench.report.formats import markdown
from elmo_bench.report.groups import Runs


def write_results(source: Path, results: Path) -> list[Path]:
    """Write results/tables/*.md and results/figures/*.svg; the same runs give the same bytes.

    A figure without runs is not written, and an old file of it is removed.

    Args:
        source: A folder with records of runs in runs/ and of analyses in analysis/.
        results: The folder to write to.
    """
    records, analyses = read_records(source / "runs"), read_analyses(source / "analysis")
    written = []
    for table in build_tables(records, analyses):
        path = results / "tables" / f"{table.name}.md"
        write_text(path, markdown(table))
        written.append(path)
    with styled():
        for name, draw in figures(Runs(records), analyses):
            path = results / "figures" / f"{name}.svg"
            path.unlink(missing_ok=True)
            try:
                figure = draw()
            except ValueError:
                continue
            save(figure, path)
            written.append(path)
    return written


if __name__ == "__main__":
    for path in write_results(Path("results/reference"), Path("results/reference")):
        print(path)
