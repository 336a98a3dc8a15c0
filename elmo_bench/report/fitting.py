"""Which columns of a table the terminal has room for; the least important ones leave first."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rich.cells import cell_len

from elmo_bench.records.visible import visible
from elmo_bench.report.cells import SHORT, Cell, Table
from elmo_bench.report.formats import cell_texts, is_numeric

# Columns that say which runs a row is about. They are never lost: where they have no room, rows
# that agree in them stand under a common heading.
IDENTITY = ("corpus", "words", "bilm", "source", "settings", "runs")
SEPARATOR = 3
LONGEST_WORD = 24  # a longer one may be broken


@dataclass(frozen=True)
class Fit:
    """How a table is shown.

    Args:
        columns: The columns that are shown, by key.
        headings: Those whose content stands above the rows instead.
        dropped: Those that are left out.
        short: Whether cells show their short form.
        separator: Characters between two columns.
    """

    columns: tuple[str, ...]
    headings: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    short: bool = False
    separator: int = SEPARATOR

    def without(self, key: str) -> "Fit":
        """The same with one column less, or with short cells."""
        if key == SHORT:
            return replace(self, short=True)
        columns = tuple(column for column in self.columns if column != key)
        if key in IDENTITY:
            return replace(self, columns=columns, headings=(*self.headings, key))
        return replace(self, columns=columns, dropped=(*self.dropped, key))


def fit(table: Table, width: int) -> Fit:
    """Choose what of a table to show in a terminal of some width."""
    columns = tuple(key for key in table.shown if key not in table.headings)
    chosen = Fit(columns, table.headings)
    for key in table.narrow:
        if total_width(table, chosen) <= width:
            break
        if key == SHORT or key in chosen.columns:
            chosen = chosen.without(key)
    # What left early may fit again after wider columns have left; the important ones first.
    for key in reversed(chosen.dropped):
        back = tuple(k for k in table.shown if k in chosen.columns or k == key)
        dropped = tuple(k for k in chosen.dropped if k != key)
        more = replace(chosen, columns=back, dropped=dropped)
        if total_width(table, more) <= width:
            chosen = more
    if total_width(table, chosen) > width:
        chosen = replace(chosen, separator=1)
    return chosen


def total_width(table: Table, chosen: Fit) -> int:
    """The characters that a table needs at least."""
    needs = _needs(table, chosen)
    return sum(least for least, _ in needs) + chosen.separator * (len(needs) - 1)


def column_widths(table: Table, chosen: Fit, width: int) -> list[int]:
    """The width of each column: what it needs at least, and an equal share of what is left."""
    needs = _needs(table, chosen)
    widths = [least for least, _ in needs]
    spare = width - total_width(table, chosen)
    while spare > 0:
        wanting = [i for i, (_, most) in enumerate(needs) if widths[i] < most]
        if not wanting:
            break
        for index in wanting[:spare]:
            widths[index] += 1
            spare -= 1
    return widths


def _needs(table: Table, chosen: Fit) -> list[tuple[int, int]]:
    """The least and the best width of each column: numbers stay in one line, texts need not."""
    texts = [row_texts(table, row, chosen) for row in table.rows]
    found = []
    for index, key in enumerate(chosen.columns):
        column = [row[index] for row in texts]
        unbroken = column if is_numeric(table, key) else _words(column)
        longest = max(map(cell_len, unbroken), default=0)
        if not is_numeric(table, key):
            longest = min(longest, LONGEST_WORD)
        title = table.shown[key]
        least = max(1, longest, *map(cell_len, title.split()))
        found.append((least, max(least, cell_len(title), *map(cell_len, column))))
    return found


def row_texts(table: Table, row: dict[str, Cell], chosen: Fit) -> list[str]:
    """What a row shows."""
    return [visible(text) for text in cell_texts(table, row, chosen.columns, chosen.short)]


def heading(table: Table, row: dict[str, Cell], keys: Iterable[str]) -> str:
    """What the columns that became headings say about a row."""
    parts = ((table.columns[key], row[key].text) for key in keys if key in row)
    return ", ".join(f"{title}: {text}" if title else text for title, text in parts if text)


def _words(texts: Iterable[str]) -> list[str]:
    return [word for text in texts for word in text.split()]
