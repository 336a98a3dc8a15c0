"""Tables as text: Markdown, LaTeX, CSV, JSON."""

import csv
import io
import json
from collections.abc import Callable, Iterable
from typing import Any

from elmo_bench.report.cells import Cell, Table, Value

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


def all_notes(table: Table) -> list[str]:
    """The notes below a table, including what all its runs have in common."""
    return [table.shared, *table.notes] if table.shared else table.notes


def markdown(table: Table) -> str:
    """A pipe table, followed by notes and commands."""
    lines = [f"## {table.title}", ""]
    if not table.rows:
        return "\n".join([*lines, "No runs.", ""])
    lines += [*pipe_lines(table), "", *(f"- {note}" for note in all_notes(table))]
    if table.commands:
        lines += ["", "Commands that fill the missing cells:", ""]
        lines += [f"{number}. `{c}`" for number, c in enumerate(table.commands, start=1)]
    return "\n".join([*lines, ""])


def pipe_lines(table: Table) -> list[str]:
    """The cells of a table in Markdown, a line for each row."""
    rules = ["---:" if is_numeric(table, key) else "---" for key in table.shown]
    cells = [list(table.shown.values()), rules, *(_texts(table, row) for row in table.rows)]
    return ["| " + " | ".join(map(_markdown_escape, row)) + " |" for row in cells]


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


def cell_texts(
    table: Table, row: dict[str, Cell], columns: Iterable[str], short: bool = False
) -> list[str]:
    """The texts of a row; a missing cell refers to the command that would fill it."""
    numbers = {command: number for number, command in enumerate(table.commands, start=1)}
    cells = [row.get(key, Cell()) for key in columns]
    return [
        f"[{numbers[cell.command]}]"
        if cell.command
        else (cell.short if short and cell.short else cell.text)
        for cell in cells
    ]


def _texts(table: Table, row: dict[str, Cell]) -> list[str]:
    return cell_texts(table, row, table.shown)


def is_numeric(table: Table, key: str) -> bool:
    """Whether a column holds numbers."""
    cells = [row[key] for row in table.rows if key in row and not row[key].command]
    return any(isinstance(cell.sort_value, float | int) for cell in cells)
