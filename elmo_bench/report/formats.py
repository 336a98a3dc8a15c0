"""Tables as text: Markdown, LaTeX, CSV, JSON, and for the terminal."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from elmo_bench.report.cells import PAPER, Cell, Table, Value

PIPE_WIDTH = 180  # columns of output that does not go to a terminal

LATEX_SPECIALS = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
        "±": r"$\pm$",
        "λ": r"$\lambda$",
        "–": "--",
        "…": r"\ldots{}",
    }
)


def new_console() -> Console:
    """A console as wide as the terminal, or wide enough for tables when the output is a file."""
    console = Console()
    return console if console.is_terminal else Console(width=PIPE_WIDTH)


def show(table: Table, console: Console) -> None:
    """Print a table to the terminal, with its notes and the commands that would fill its gaps."""
    if not table.rows:
        console.print(f"{table.title}: no runs.", highlight=False)
        return
    shown = RichTable(title=table.title, title_justify="left", title_style="bold")
    for key, title in table.shown.items():
        numeric = is_numeric(table, key)
        shown.add_column(
            title,
            justify="right" if numeric else "left",
            no_wrap=numeric and key != "paper",
            overflow="fold",
        )
    for row, following in zip(table.rows, [*table.rows[1:], None], strict=True):
        ends = following is None or following["task"].text != row["task"].text
        texts = map(escape, _texts(table, row))
        shown.add_row(*texts, end_section=ends, style=_style(row))
    console.print(shown)
    for note in all_notes(table):
        console.print(note, style="dim", highlight=False)
    for number, command in enumerate(table.commands, start=1):
        console.print(f"[{number}] {command}", markup=False, highlight=False, soft_wrap=True)
    console.print()


def all_notes(table: Table) -> list[str]:
    """The notes below a table, including what all its runs have in common."""
    return [table.shared, *table.notes] if table.shared else table.notes


def _style(row: dict[str, Cell]) -> str:
    return "dim" if row.get("corpus", Cell()).text == PAPER else ""


def markdown(table: Table) -> str:
    """A pipe table, followed by notes and commands."""
    lines = [f"## {table.title}", ""]
    if not table.rows:
        return "\n".join([*lines, "No runs.", ""])
    rules = ["---:" if is_numeric(table, key) else "---" for key in table.shown]
    cells = [list(table.shown.values()), rules, *(_texts(table, row) for row in table.rows)]
    lines += ["| " + " | ".join(map(_markdown_escape, row)) + " |" for row in cells]
    lines += ["", *(f"- {note}" for note in all_notes(table))]
    if table.commands:
        lines += ["", "Commands that fill the missing cells:", ""]
        lines += [f"{number}. `{c}`" for number, c in enumerate(table.commands, start=1)]
    return "\n".join([*lines, ""])


def _markdown_escape(text: str) -> str:
    for character in "\\|<*`":
        text = text.replace(character, f"\\{character}")
    return text


def latex(table: Table) -> str:
    """A booktabs table; commands for missing cells are comments above it."""
    if not table.rows:
        return f"% {table.title}: no runs\n"
    lines = [f"% {table.title}"]
    lines += [f"% missing [{number}]: {c}" for number, c in enumerate(table.commands, start=1)]
    kinds = "".join("r" if is_numeric(table, key) else "l" for key in table.shown)
    lines += [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule"]
    lines += [_latex_row(table.shown.values()), r"\midrule"]
    task = table.rows[0]["task"].text
    for row in table.rows:
        if row["task"].text != task:
            lines.append(r"\addlinespace")
            task = row["task"].text
        lines.append(_latex_row(_texts(table, row)))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _latex_row(texts: Any) -> str:
    return " & ".join(text.translate(LATEX_SPECIALS) for text in texts) + r" \\"


def comma_separated(table: Table) -> str:
    """Raw values as CSV, one column for each."""
    rows = [raw_row(table, row) for row in table.rows]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    order = {key: index for index, key in enumerate(table.columns)}
    columns.sort(key=lambda name: order[max((k for k in order if _is_of(name, k)), key=len)])
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _is_of(name: str, column: str) -> bool:
    return name == column or name.startswith(f"{column}_")


def raw_row(table: Table, row: dict[str, Cell]) -> dict[str, Value]:
    """The values of a row by column name: `elmo_mean`, `elmo_sd`, `elmo_n`, `p`."""
    return {
        f"{key}_{name}" if name else key: value
        for key in table.columns
        for name, value in row.get(key, Cell()).values.items()
    }


def as_json(tables: list[Table]) -> str:
    """Raw values, titles and notes as JSON."""
    content = [
        {
            "name": table.name,
            "title": table.title,
            "columns": dict(table.columns),
            "rows": [raw_row(table, row) for row in table.rows],
            "notes": table.notes,
        }
        for table in tables
    ]
    return json.dumps({"tables": content}, indent=1, ensure_ascii=False) + "\n"


ONE_BY_ONE: dict[str, Callable[[Table], str]] = {
    "md": markdown,
    "latex": latex,
    "csv": comma_separated,
}


def _texts(table: Table, row: dict[str, Cell]) -> list[str]:
    """The texts of a row; a missing cell refers to the command that would fill it."""
    numbers = {command: number for number, command in enumerate(table.commands, start=1)}
    cells = [row.get(key, Cell()) for key in table.shown]
    return [f"[{numbers[cell.command]}]" if cell.command else cell.text for cell in cells]


def is_numeric(table: Table, key: str) -> bool:
    """Whether a column holds numbers."""
    cells = [row[key] for row in table.rows if key in row and not row[key].command]
    return any(isinstance(cell.sort_value, float | int) for cell in cells)
