"""Tables of the reference records inside documents such as the README: `make report`.

A document has a comment where a table goes, `<!-- table results open -->`, and one after it,
`<!-- end of table -->`. What is between them is replaced.
"""

import re
from collections.abc import Sequence

from elmo_bench.errors import UserError
from elmo_bench.records.run import Record
from elmo_bench.report.all_tables import build_tables
from elmo_bench.report.cells import UNCONVERGED, Cell, Table, word
from elmo_bench.report.formats import pipe_lines
from elmo_bench.report.groups import Runs, is_transformer
from elmo_bench.report.main_table import main_table
from elmo_bench.report.names import TABLES

DOCUMENTS = ("README.md",)  # those with tables
BLOCK = re.compile(r"(<!-- table (\w+) (\w+) -->\n).*?(<!-- end of table -->\n)", re.DOTALL)
RESULTS = {
    "task": "task",
    "corpus": "corpus",
    "metric": "metric",
    "seeds": "seeds",
    "baseline": "baseline",
    "control": "control",
    "elmo": "+ELMo",
    "absolute": "gain",
    "relative": "error reduction",
    "p": "p",
    "paper": "the paper's gain",
}


def with_tables(text: str, kinds: dict[str, list[Record]]) -> str:
    """The text of a document with its tables made anew.

    Args:
        text: The document.
        kinds: Records by the kind of corpus, which the comments name.
    """

    def table(match: re.Match[str]) -> str:
        start, name, kind, end = match.groups()
        if name not in ("results", *TABLES) or kind not in kinds:
            raise UserError(
                f"{start.strip()}: no such table; the names are results, {', '.join(TABLES)}, "
                f"and the kinds {', '.join(kinds)}"
            )
        tasks = sorted({record.task for record in kinds[kind]})
        made = (
            results_table(kinds[kind])
            if name == "results"
            else build_tables(kinds[kind], [], [name], tasks)[0]
        )
        # The blank lines make it a table to readers of Markdown.
        notes = [line for note in made.notes for line in (note, "")]
        return "\n".join([start, *pipe_lines(made), "", *notes, end])

    return BLOCK.sub(table, text)


def results_table(records: Sequence[Record]) -> Table:
    """The main table of biLMs, with a column for each number."""
    of_bilms = [record for record in records if not is_transformer(record)]
    rows = main_table(Runs(of_bilms), sorted({record.task for record in of_bilms})).rows
    ends = any("unconverged" in cell.values for row in rows for cell in row.values())
    notes = [UNCONVERGED.replace("*", "\\*", 1)] if ends else []
    return Table("results", "Results", RESULTS, [_row(row) for row in rows], notes)


def _row(row: dict[str, Cell]) -> dict[str, Cell]:
    made = {key: cell for key, cell in row.items() if key in ("task", "corpus", "metric", "p")}
    counts = []
    for key in ("baseline", "control", "elmo"):
        if key in row and "mean" in row[key].values:
            made[key] = Cell(row[key].short, row[key].values)
            counts.append(str(row[key].values["n"]))
    made["seeds"] = word(counts[0] if len(set(counts)) == 1 else " / ".join(counts))
    for name, text in (("absolute", "{:+.2f}"), ("relative", "{:.1f} %")):
        if "gain" in row:
            value = row["gain"].values[name]
            made[name] = Cell(text.format(value), {"": value})
    if "paper" in row:
        published = row["paper"].values
        gain = f"{published['absolute']:+.3g} ({published['relative']:.3g} %)"
        made["paper"] = Cell(gain, {"": published["absolute"]})
    return made
