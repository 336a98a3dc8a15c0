import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from elmo_bench.records.run import read_records
from elmo_bench.report.all_tables import build_tables
from elmo_bench.report.cells import SHORT, Cell, Table, word
from elmo_bench.report.fitting import fit
from elmo_bench.report.run_summary import show_comparison
from elmo_bench.report.terminal import new_console, show
from tests.report.synthetic_records import TASKS, record


def printed(table, width):
    console = Console(file=io.StringIO(), width=width)
    show(table, console)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def tables(synthetic):
    return [t for t in build_tables(read_records(synthetic)) if t.rows]


@pytest.mark.parametrize("width", [64, 80, 120])
def test_every_table_fits_and_names_its_tasks(tables, width):
    for table in tables:
        lines = [line for line in printed(table, width).splitlines() if not line.startswith("[")]
        assert max(map(len, lines)) <= width
        firsts = {re.split("[┃│ ]", line)[0] for line in lines}
        assert {row["task"].text for row in table.rows} <= firsts, table.name


def test_numbers_are_never_cut(tables):
    main = next(table for table in tables if table.name == "main")
    text = printed(main, 80)
    for row in main.rows:
        for key in ("baseline", "elmo"):
            if row[key].text:
                assert (row[key].short or row[key].text) in text


def table_of(*rows, narrow=("paper", "bilm", SHORT)):
    columns = {"task": "Task", "bilm": "biLM", "score": "Score", "paper": "Paper"}
    return Table("t", "T", columns, list(rows), narrow=narrow)


def row(task, bilm):
    score = Cell("12.34 ± 0.50 (3)", {"": 12.34}, short="12.34")
    return {"task": word(task), "bilm": word(bilm), "score": score, "paper": word("p" * 20)}


def test_the_least_important_column_leaves_first_and_is_named():
    text = printed(table_of(row("ner", "small"), row("srl", "large")), 36)
    assert "Not shown in 36 columns: Paper." in text and "small" in text and "± 0.50 (3)" in text


def test_a_column_that_tells_rows_apart_becomes_headings():
    text = printed(table_of(row("ner", "small"), row("ner", "large"), row("srl", "small")), 24)
    assert text.count("biLM: small") == 1 and text.count("biLM: large") == 1
    assert text.index("biLM: small") < text.index("srl") < text.index("biLM: large")


def test_short_cells_come_last():
    assert not fit(table_of(row("ner", "small"), row("ner", "large")), 24).short
    text = printed(table_of(row("ner", "small"), row("ner", "large")), 16)
    assert "12.34" in text and "±" not in text and "seeds." in text


def test_markup_and_escapes_are_shown():
    text = printed(table_of(row("[red]ner", "\x1b[31mx"), row("a", "b")), 80)
    assert "[red]ner" in text and "\\x1b[31mx" in text and "\x1b" not in text


@pytest.mark.parametrize("columns", ["80", "200"])
def test_output_to_a_file_is_as_wide_as_the_environment_says(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert new_console().width == int(columns)


def test_the_summary_of_a_run_fits_80_columns():
    console = Console(file=io.StringIO(), width=80)
    for task in TASKS:
        scores = {"baseline": 90.15, "elmo": 92.22}
        show_comparison(record(task, elmo=None), record(task), scores, console)
    assert max(map(len, console.file.getvalue().splitlines())) <= 80


def test_the_header_is_printed_once_above_all_headings():
    text = printed(table_of(row("ner", "small"), row("ner", "large"), row("srl", "small")), 24)
    assert text.count("Task") == 1 and text.index("Task") < text.index("biLM: small")


def test_what_is_not_shown_is_not_explained():
    def missing_paper(task):
        return row(task, "small") | {"paper": Cell(command=f"python run.py task={task}")}

    table = table_of(missing_paper("ner"), missing_paper("srl"))
    notes = ["Paper: of 2018.", "Score: in percent."]
    narrow = printed(replace(table, notes=notes), 24)
    assert "of 2018" not in narrow and "run.py" not in narrow and "in percent" in narrow
    wide = printed(replace(table, notes=notes), 80)
    assert "of 2018" in wide and "[1] python run.py task=ner" in wide


def test_rows_without_a_heading_do_not_seem_to_belong_to_another():
    text = printed(table_of(row("ner", "small"), row("srl", "large"), row("sst5", "")), 24)
    assert text.index("biLM: large") < text.index("srl") < text.index("Others")
    assert text.index("Others") < text.index("sst5")
