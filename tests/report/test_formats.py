import csv
import io
import json
import re
from dataclasses import replace

import pytest
from rich.console import Console

from elmo_bench.records.run import read_records
from elmo_bench.report.all_tables import build_tables
from elmo_bench.report.cells import Cell, Table, missing, word
from elmo_bench.report.formats import as_json, comma_separated, latex, markdown
from elmo_bench.report.terminal import show
from tests.report.synthetic_records import TASKS


@pytest.fixture(scope="module")
def tables(synthetic):
    return [t for t in build_tables(read_records(synthetic)) if t.rows]


def test_markdown_rows_all_have_the_same_number_of_cells(tables):
    for table in tables:
        rows = [line for line in markdown(table).splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1


def test_csv_has_a_number_for_every_mean(tables):
    rows = list(csv.DictReader(io.StringIO(comma_separated(tables[0]))))
    means = {row["task"]: row["elmo_mean"] for row in rows}
    assert all(float(means[task]) for task in TASKS)
    assert next(iter(rows[0])) == "task"


def test_json_output_can_be_parsed(tables):
    content = json.loads(as_json(tables))
    assert [table["name"] for table in content["tables"]] == [table.name for table in tables]
    assert content["tables"][0]["rows"][0]["baseline_n"] == 3


def test_latex_is_a_booktabs_table_whose_rows_match_its_columns(tables):
    for table in tables:
        text = latex(table)
        columns = len(re.search(r"\\begin\{tabular\}\{(\w+)\}", text).group(1))
        rows = [line for line in text.splitlines() if line.endswith(r"\\")]
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {columns - 1}
        assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule"))


def test_latex_special_characters_are_escaped():
    table = Table("t", "T", {"task": "Task"}, [{"task": word(r"50% of a_b & {c} \d ± 1")}])
    assert r"50\% of a\_b \& \{c\} \textbackslash{}d $\pm$ 1 \\" in latex(table)


def test_the_terminal_shows_brackets_as_they_are(tables):
    table = Table("t", "T", {"task": "Task"}, [{"task": word("80.0 [words.dim=50]")}])
    console = Console(record=True, width=80, file=io.StringIO())
    show(table, console)
    assert "[words.dim=50]" in console.export_text()


def test_missing_cells_refer_to_commands_below():
    row = {"task": word("ner"), "elmo": missing("python run.py task=ner")}
    text = markdown(Table("t", "T", {"task": "Task", "elmo": "+ELMo"}, [row]))
    assert "| ner | [1] |" in text and "1. `python run.py task=ner`" in text


def test_a_column_with_a_single_value_becomes_a_note():
    rows = [{"task": word(task), "corpus": word("mini")} for task in ("ner", "srl")]
    table = Table("t", "T", {"task": "Task", "corpus": "Corpus"}, rows)
    assert table.shown == {"task": "Task"} and table.shared == "All runs: Corpus = mini."


def test_empty_columns_are_not_shown():
    table = Table("t", "T", {"task": "Task", "p": "p"}, [{"task": word("ner"), "p": Cell()}])
    assert list(table.shown) == ["task"]


def test_a_table_without_rows_says_so(tables):
    empty = replace(tables[0], rows=[])
    assert "No runs." in markdown(empty) and latex(empty).endswith("no runs\n")
