"""Tables in the terminal: as wide as it is, with text from elsewhere shown and not obeyed."""

import os
from itertools import groupby

from rich.box import HEAVY_HEAD, SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from elmo_bench.records.visible import visible
from elmo_bench.report.cells import PAPER, Cell, Table
from elmo_bench.report.fitting import SEPARATOR, Fit, column_widths, fit, heading, row_texts
from elmo_bench.report.formats import all_notes, is_numeric

PIPE_WIDTH = 180  # columns of output that does not go to a terminal


def new_console() -> Console:
    """A console as wide as the terminal or COLUMNS, or wide enough for tables in a file."""
    console = Console()
    if console.is_terminal or os.environ.get("COLUMNS", "").isdigit():
        return console
    return Console(width=PIPE_WIDTH)


def show(table: Table, console: Console) -> None:
    """Print a table to the terminal, with its notes and the commands that would fill its gaps."""
    if not table.rows:
        _line(console, f"{table.title}: no runs.")
        return
    chosen = fit(table, console.width)
    widths = column_widths(table, chosen, console.width)
    _line(console, table.title, "bold")
    if table.shared:
        _line(console, table.shared, "bold")
    # Rows that share a heading come together; within it they keep their order.
    titled = [(heading(table, row, chosen.headings), row) for row in table.rows]
    order = {title: number for number, (title, _) in reversed(list(enumerate(titled)))}
    titled.sort(key=lambda pair: order[pair[0]])
    console.print(_empty(table, chosen, widths, header=True))
    for title, pairs in groupby(titled, key=lambda pair: pair[0]):
        if chosen.headings:  # rows without one must not seem to belong to the one above
            _line(console, title or "Others", "bold")
        shown = _empty(table, chosen, widths, header=False)
        _add_rows(shown, table, [row for _, row in pairs], chosen)
        console.print(shown)
    left_out = [table.columns[key] for key in chosen.dropped]
    left_out += [table.shortened] if chosen.short else []
    if left_out:
        _line(console, f"Not shown in {console.width} columns: {'; '.join(left_out)}.", "dim")
    for note in all_notes(table)[bool(table.shared) :]:
        if note.partition(":")[0] not in left_out:  # about a column that is not shown
            _line(console, note, "dim")
    cells = (row.get(key, Cell()) for row in table.rows for key in chosen.columns)
    cited = {cell.command for cell in cells}
    for number, command in enumerate(table.commands, start=1):
        if command in cited:
            console.print(Text(visible(f"[{number}] {command}")), soft_wrap=True)
    console.print()


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(visible(text)), style=style)


def _empty(table: Table, chosen: Fit, widths: list[int], header: bool) -> RichTable:
    """The columns of a table, of equal width wherever they are printed."""
    roomy = chosen.separator == SEPARATOR
    shown = RichTable(
        box=HEAVY_HEAD if roomy else SIMPLE_HEAD,
        show_header=header,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1) if roomy else (0, 0),
    )
    for key, column_width in zip(chosen.columns, widths, strict=True):
        shown.add_column(
            Text(visible(table.shown[key])),
            justify="right" if is_numeric(table, key) else "left",
            width=column_width,
            overflow="fold",
        )
    return shown


def _add_rows(shown: RichTable, table: Table, rows: list[dict[str, Cell]], chosen: Fit) -> None:
    """Add rows; those of one task stand together."""
    first = next(iter(table.columns))
    names = [row[first].text for row in rows]
    grouped = len(set(names)) < len(names)
    for row, name, following in zip(rows, names, [*names[1:], None], strict=True):
        cells = [row.get(key, Cell()) for key in chosen.columns]
        texts = map(_text, cells, row_texts(table, row, chosen))
        shown.add_row(*texts, end_section=grouped and name != following, style=_style(row))


def _text(cell: Cell, shown: str) -> Text:
    text = Text(shown, overflow="fold", style=cell.style)
    if cell.strong:
        text.highlight_words([visible(cell.strong)], "bold reverse")
    return text


def _style(row: dict[str, Cell]) -> str:
    return "dim" if row.get("corpus", Cell()).text == PAPER else ""
