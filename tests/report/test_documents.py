"""Tables inside documents, and that those of the project's are the records'."""

import pytest

from elmo_bench.errors import UserError
from elmo_bench.report.documents import DOCUMENTS, results_table, with_tables
from elmo_bench.report.formats import pipe_lines
from elmo_bench.report.write_results import records_by_kind
from tests.conftest import PROJECT
from tests.report.synthetic_records import MINILM, open_record

RESULTS = "before\n<!-- table results open -->\n{}<!-- end of table -->\nafter\n"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_tables_in_documents_are_those_of_the_reference_records(name):
    text = (PROJECT / name).read_text(encoding="utf-8")
    assert "<!-- table " in text
    made = with_tables(text, records_by_kind(PROJECT / "results/reference"))
    assert made == text, f"{name} has other tables; run `make report` and commit the changes"


def test_a_table_replaces_what_is_between_the_comments_and_nothing_else():
    kinds = {"open": [open_record("wnut17", elmo=None), open_record("wnut17")]}
    made = with_tables(RESULTS.format(""), kinds)
    assert made.startswith("before\n<!-- table results open -->\n\n| task |")
    assert made.endswith("<!-- end of table -->\nafter\n")
    assert with_tables(RESULTS.format("old\n"), kinds) == made == with_tables(made, kinds)


@pytest.mark.parametrize("wrong", ["result open", "results mini"])
def test_a_wrong_name_or_kind_is_an_error_that_lists_them(wrong):
    text = RESULTS.format("").replace("results open", wrong)
    with pytest.raises(UserError, match=r"the names are results, main, .* kinds open"):
        with_tables(text, {"open": []})


def test_seeds_are_counted_by_arm_where_they_differ():
    runs = [open_record("wnut17", elmo=None, seed=seed) for seed in (1, 2)]
    (row,) = results_table([*runs, open_record("wnut17")]).rows
    assert row["seeds"].text == "2 / 1"
    (row,) = results_table([runs[0], open_record("wnut17")]).rows
    assert row["seeds"].text == "1"


def test_the_results_are_those_of_bilms():
    runs = [open_record("wnut17", elmo=None), open_record("wnut17")]
    lines = pipe_lines(results_table(runs))
    assert pipe_lines(results_table([*runs, open_record("wnut17", **MINILM)])) == lines
