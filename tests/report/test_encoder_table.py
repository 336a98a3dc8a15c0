import shlex

from elmo_bench.report.encoder_table import encoder_table
from elmo_bench.report.groups import Runs
from tests.report.synthetic_records import MINILM, open_record, record


def arms(corpus, *seeds):
    return [
        *(open_record(corpus, seed, elmo=None) for seed in seeds),
        *(open_record(corpus, seed) for seed in seeds),
        open_record(corpus, bilm__weights="random"),
        open_record(corpus, **MINILM),
    ]


def test_a_row_has_baseline_control_elmo_and_the_transformer():
    table = encoder_table(Runs(arms("sst", 1, 2)))
    assert list(table.shown.values()) == [
        "Task", "Metric", "Baseline", "Control", "ELMo (english)", "minilm",
    ]  # fmt: skip
    [row] = table.rows
    numbers = [row[key].values["n"] for key in list(table.shown)[2:]]
    assert numbers == [2, 1, 2, 1]


def test_two_corpora_of_a_task_are_two_rows():
    rows = encoder_table(Runs([*arms("worldwide", 1), *arms("wnut17", 1)])).rows
    assert [row["corpus"].text for row in rows] == ["wnut17", "worldwide"]


def test_other_sizes_of_the_model_are_another_row():
    other = open_record("sst", **MINILM, task__build={"hidden_dim": 51})
    rows = encoder_table(Runs([*arms("sst", 1), other])).rows
    assert [row["settings"].text for row in rows] == [
        "task.build.hidden_dim=50", "task.build.hidden_dim=51",
    ]  # fmt: skip


def test_an_encoder_that_other_corpora_have_says_what_to_run():
    table = encoder_table(Runs([*arms("sst", 1), open_record("ewt")]))
    [row] = [row for row in table.rows if row["corpus"].text == "ewt"]
    words = shlex.split(row["encoder_english, untrained"].command)
    assert words[2:] == ["experiment=open/srl", "bilm=english", 'bilm.weights="random"']


def test_one_encoder_alone_makes_no_table():
    assert encoder_table(Runs([record("ner"), record("ner", bilm__weights="random")])).rows == []


def test_the_encoder_of_the_mini_benchmark_is_no_column_of_real_text():
    table = encoder_table(Runs([record("ner"), *arms("sst", 1)]))
    assert [row["task"].text for row in table.rows] == ["sst5"]
    assert "encoder_mini" not in table.columns
