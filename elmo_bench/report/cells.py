"""Tables before they are formatted: each cell has a text to display and raw values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from elmo_bench.report.gain import error_reduction, format_gain
from elmo_bench.report.groups import Group, mean_and_spread
from elmo_bench.report.training import unconverged

PAPER = "paper"  # the corpus column in rows of published numbers
UNCONVERGED = "*: a run ended at max_epochs, before its dev score had stopped rising."
SHORT = "short cells"  # in Table.narrow: where cells change to their short form
Value = float | int | str | None


@dataclass(frozen=True)
class Cell:
    """One cell.

    Args:
        text: What is displayed.
        values: Raw values by name, which is appended to the column's; '' is the column itself.
        command: The command that would fill the cell, which then has no text.
        short: What a narrow terminal displays; '' is the same text.
        style: A color in the terminal.
        strong: The part of the text that stands out in the terminal.
    """

    text: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)
    command: str | None = None
    short: str = ""
    style: str = ""
    strong: str = ""

    @property
    def sort_value(self) -> Value:
        """What a column is sorted by: the first number, otherwise the text."""
        numbers = (value for value in self.values.values() if isinstance(value, float | int))
        return next(numbers, self.text)


NARROW = ("metric", "words", "bilm", "source", SHORT, "settings", "corpus")


@dataclass(frozen=True)
class Table:
    """Rows of cells; a row need not have every column.

    Args:
        columns: Titles by key, in order. Columns that are empty in all rows are not shown.
        notes: What a reader needs to know, one sentence each.
        narrow: The columns that a narrow terminal takes out, the least important first; columns
            that identify a row become headings, and SHORT shortens the cells.
        shortened: What short cells leave out.
        headings: Columns that always stand above the rows that share them.
    """

    name: str
    title: str
    columns: Mapping[str, str]
    rows: list[dict[str, Cell]]
    notes: list[str] = field(default_factory=list)
    narrow: tuple[str, ...] = NARROW
    shortened: str = "numbers of seeds"
    headings: tuple[str, ...] = ()

    @cached_property
    def shown(self) -> dict[str, str]:
        """The columns that are not empty, without those that `shared` covers."""
        filled = {k for row in self.rows for k, cell in row.items() if cell.text or cell.command}
        return {k: title for k, title in self.columns.items() if k in filled - set(self._shared)}

    @property
    def shared(self) -> str:
        """A sentence on what all runs have in common; '' if there is nothing."""
        values = (f"{self.columns[key]} = {text}" for key, text in self._shared.items())
        return f"All runs: {', '.join(values)}." if self._shared else ""

    @cached_property
    def _shared(self) -> dict[str, str]:
        """The columns that have the same text in all rows that have one."""
        texts = {
            key: {row[key].text for row in self.rows if key in row} - {""}
            for key in ("corpus", "words", "bilm", "source")
        }
        alike = {key: values.pop() for key, values in texts.items() if len(values) == 1}
        return {key: text for key, text in alike.items() if text != PAPER}

    @cached_property
    def commands(self) -> list[str]:
        """Distinct commands that would fill the missing cells, which cite them by number from 1."""
        cells = (row[key] for row in self.rows for key in self.shown if key in row)
        return list(dict.fromkeys(cell.command for cell in cells if cell.command))


def word(text: str) -> Cell:
    """A cell of text without a number."""
    return Cell(text, {"": text} if text else {})


def count(value: int) -> Cell:
    """A whole number."""
    return Cell(f"{value:,}", {"": value})


def decimal(value: float, digits: int = 2) -> Cell:
    """A number with so many digits after the point."""
    return Cell(f"{value:,.{digits}f}", {"": value})


def missing(command: str) -> Cell:
    """An empty cell that a command would fill."""
    return Cell(values={"command": command}, command=command)


def number(value: float, digits: int = 2) -> Cell:
    """A published number."""
    return Cell(f"{value:.{digits}f}".rstrip("0").rstrip("."), {"": value})


def score(group: Group, split: str) -> Cell:
    """Mean ± standard deviation over seeds, and the number of seeds."""
    values = group.scores(split)
    if not values:
        return Cell("failed", {"": "failed"}) if group.failed else Cell()
    mean, spread = mean_and_spread(values)
    text = f"{mean:.2f}" if spread is None else f"{mean:.2f} ± {spread:.2f}"
    values_by_name = {"mean": mean, "sd": spread, "n": len(values)}
    return Cell(f"{text} ({len(values)})", values_by_name, short=text)


def final_score(group: Group) -> Cell:
    """The test score, with a * if a training did not converge."""
    cell, num_runs = score(group, "test"), unconverged([group])
    if not cell.text or not num_runs:
        return cell
    values = {**cell.values, "unconverged": num_runs}
    return replace(cell, text=f"{cell.text}*", values=values, short=f"{cell.short}*")


def scores(groups: list[tuple[Group, str]], split: str) -> Cell:
    """The scores of several groups in one cell, each with the settings in which it differs."""
    cells = [(score(group, split), settings) for group, settings in groups]
    if len(cells) == 1:
        return cells[0][0]
    text = "; ".join(f"{cell.text} [{settings}]" for cell, settings in cells)
    values = {
        f"{settings} {name}": v for cell, settings in cells for name, v in cell.values.items()
    }
    return Cell(text, values)


def gain(baseline: float, score: float) -> Cell:
    """The absolute gain and the error reduction."""
    return Cell(
        format_gain(baseline, score),
        {"absolute": score - baseline, "relative": error_reduction(baseline, score)},
    )


def probability(p: float) -> Cell:
    """A p-value."""
    return Cell("<0.001" if p < 0.001 else f"{p:.3f}", {"": p})
