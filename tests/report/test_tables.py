from dataclasses import replace

import pytest

from elmo_bench.records.run import read_records
from elmo_bench.report.ablations import layers_table, placement_table
from elmo_bench.report.cells import UNCONVERGED
from elmo_bench.report.finetuning_table import finetuning_table
from elmo_bench.report.groups import Runs
from elmo_bench.report.headline import headline_groups
from elmo_bench.report.main_table import groups_table, main_table
from elmo_bench.report.word_table import words_table
from tests.report.synthetic_records import record


def scored(task, seed, test, **changes):
    made = record(task, seed, **changes)
    return replace(made, scores={split: {made.metric: test} for split in ("dev", "test")})


def main_row(records, **texts):
    table = main_table(Runs(records), tasks=["ner"])
    [row] = [r for r in table.rows if all(r[k].text == v for k, v in texts.items())]
    return row


def pair(*seeds):
    return [
        *(scored("ner", seed, 80.0 + seed, elmo=None) for seed in seeds),
        *(scored("ner", seed, 90.0 + seed) for seed in seeds),
    ]


def test_a_row_has_mean_standard_deviation_and_number_of_seeds():
    values = main_row(pair(1, 2, 3))["baseline"].values
    assert values == {"mean": 82.0, "sd": 1.0, "n": 3}


def test_the_gain_has_an_absolute_value_and_an_error_reduction():
    values = main_row(pair(1))["gain"].values
    assert values == pytest.approx({"absolute": 10.0, "relative": 100 * 10 / 19})


def test_the_gain_is_over_the_seeds_that_both_arms_share():
    records = [*pair(1), scored("ner", 2, 0.0, elmo=None)]
    assert main_row(records)["gain"].values["absolute"] == pytest.approx(10.0)


def test_runs_without_a_test_score_have_no_gain():
    records = [scored("ner", 1, 80.0, elmo=None), replace(record("ner", 1), scores={})]
    assert "gain" not in main_row(records)


def test_a_transformer_is_called_an_encoder_and_not_a_bilm():
    transformer = scored("ner", 1, 92.0, bilm__fingerprint="b", bilm__name="MiniLM")
    table = main_table(Runs([*pair(1), transformer]), tasks=["ner"])
    assert table.columns["bilm"] == "Encoder"
    assert {row["bilm"].text for row in table.rows} == {"mini", "MiniLM"}


def test_the_untrained_bilm_is_the_control_in_the_row_of_the_trained_one():
    control = scored("ner", 1, 79.0, bilm__weights="random")
    row = main_row([*pair(1), control])
    assert (row["control"].values["mean"], row["elmo"].values["mean"]) == (79.0, 91.0)


def test_an_untrained_bilm_with_other_settings_is_no_control():
    other = scored("ner", 1, 79.0, bilm__weights="random", elmo__l2=7.0)
    row = main_row([*pair(1), other], bilm="mini, untrained")
    assert row["gain"].values["absolute"] == pytest.approx(-2.0)
    assert "control" not in main_row([*pair(1), other], bilm="mini")


def test_a_training_that_ended_at_max_epochs_is_marked():
    limited = {"task__training": {"max_epochs": 12, "patience": 30}}
    records = [scored("ner", 1, 80.0, elmo=None, **limited), scored("ner", 1, 90.0, **limited)]
    del records[1].epochs[8:]  # it stopped early
    row = main_row(records)
    assert (row["baseline"].text, row["elmo"].text) == ("80.00 (1)*", "90.00 (1)")
    assert UNCONVERGED in main_table(Runs(records)).notes
    assert UNCONVERGED not in main_table(Runs(records[1:])).notes


def test_a_row_has_the_papers_numbers():
    assert main_row(pair(1))["paper"].values["baseline"] == 90.15


def test_the_p_value_is_computed_from_stored_predictions(synthetic):
    table = main_table(Runs(read_records(synthetic)))
    [row] = [row for row in table.rows if row["task"].text == "ner"]
    assert all(0 < row[key].values[""] <= 1 for key in ("p", "p_control"))


def test_a_task_without_runs_says_what_to_run():
    assert main_row([])["elmo"].command == "python run.py task=ner"


def test_a_baseline_alone_says_how_to_run_elmo_with_its_seeds():
    command = main_row([scored("ner", seed, 80.0, elmo=None) for seed in (1, 2)])["elmo"].command
    assert command.startswith("python run.py -m task=ner ") and command.endswith("seed=1,2")


def test_elmo_alone_says_how_to_run_the_baseline():
    assert "elmo=none" in main_row([record("ner")])["baseline"].command


def test_a_failed_group_is_shown_as_failed():
    broken = replace(record("ner"), error="broke", scores={})
    assert main_row([broken])["elmo"].text == "failed"


def test_the_main_table_has_only_groups_with_the_settings_of_the_tasks_yaml():
    other = record("ner", 1, elmo__l2=7.0)
    table = main_table(Runs([*pair(1), other]), tasks=[])
    assert len(table.rows) == 1
    assert any(note.endswith("--tables all): 1.") for note in table.notes)


def test_the_main_table_shows_the_runs_on_the_most_training_data():
    limited = [scored("ner", 1, 60.0 + n, data__train_limit=n) for n in (5, 9)]
    row = main_row(limited)
    assert row["elmo"].values["mean"] == 69.0
    assert row["settings"].text == "data.train_limit=9"


def test_all_groups_are_listed_with_the_settings_in_which_they_differ():
    table = groups_table(Runs([*pair(1), record("ner", 1, elmo__l2=7.0)]))
    assert {row["settings"].text for row in table.rows} == {
        "", "elmo.l2=0.1", "elmo.l2=7.0",
    }  # fmt: skip


@pytest.fixture(scope="module")
def runs(synthetic):
    return Runs(read_records(synthetic))


def rows_of(table, task, corpus="mini"):
    return [row for row in table.rows if (row["task"].text, row["corpus"].text) == (task, corpus)]


def test_table_2_has_the_last_layer_and_both_lambdas_in_one_row(runs):
    [row] = rows_of(layers_table(runs), "srl")
    assert all(row[key].values["n"] == 3 for key in ("baseline", "last", "all_1", "all_0.001"))


def test_table_2_has_the_papers_row(runs):
    [row] = rows_of(layers_table(runs), "srl", "paper")
    assert row["all_0.001"].values[""] == 84.8


def test_table_3_matches_placements_by_their_settings_not_by_name(runs):
    [row] = rows_of(placement_table(runs), "snli")
    both = runs_of(runs, "snli", "paper")
    assert row["both"].values["mean"] == pytest.approx(sum(both) / len(both))


def runs_of(runs, task, elmo):
    [group] = [
        group
        for group in runs.with_elmo
        if (group.task, group.any_record.elmo, group.any_record.words) == (task, elmo, "random")
        and group.train_fraction == 1
        and not group.is_untrained
        and group.config["elmo"]["l2"] == 0.001
    ]
    return group.scores("dev")


def test_a_missing_placement_says_which_run_fills_it(runs):
    [row] = rows_of(placement_table(runs), "squad")
    assert "elmo=output" in row["output"].command


def test_the_words_table_has_arms_as_rows_and_word_vectors_as_columns(runs):
    rows = rows_of(words_table(runs), "snli")
    assert [row["arm"].text for row in rows] == ["no ELMo", "token layer only", "+ELMo"]
    assert rows[0]["words_glove"].values["n"] == 3


def test_a_missing_glove_run_says_that_it_needs_a_path(runs):
    row = rows_of(words_table(runs), "squad")[0]
    assert {"words=glove", "words.path=PATH"} <= set(row["words_glove"].command.split())


def test_a_fine_tuned_bilm_is_not_in_the_main_table_beside_the_original():
    runs = Runs([record("ner"), record("ner", bilm__finetune=True)])
    assert [group.config["bilm"].get("finetune") for group in headline_groups(runs)] == [None]


def test_a_fine_tuned_bilm_is_a_column_of_the_main_table():
    tuned = scored("ner", 1, 95.0, bilm__finetune="a recipe")
    records = [*pair(1), replace(tuned, elmo="paper_finetuned"), scored("sst5", 1, 50.0)]
    row = main_row(records, task="ner")
    assert (row["elmo"].values["mean"], row["finetuned"].values["mean"]) == (91.0, 95.0)
    assert "finetuned" not in main_row(records, task="sst5")
    notes = " ".join(main_table(Runs(records)).notes)
    assert "fine-tuned biLM for: ner, snli, squad." in notes
    assert "only in other tables" not in notes


def test_where_the_authors_fine_tuned_a_missing_run_has_its_command():
    tuned = replace(scored("ner", 1, 95.0, bilm__finetune="a recipe"), elmo="paper_finetuned")
    records = [*pair(1), tuned, scored("snli", 1, 80.0)]
    assert "elmo=paper_finetuned" in main_row(records, task="snli")["finetuned"].command
    assert "finetuned" not in main_row([*pair(1), scored("snli", 1, 80.0)], task="snli")


def test_contexts_and_questions_are_rows_of_their_own_in_the_finetuning_table():
    keys = [f"{part} {when}" for part in ("contexts", "questions") for when in ("before", "after")]
    ppl = {key: {"mean": 10.0 + number} for number, key in enumerate(keys)}
    tuned = replace(record("squad", bilm__finetune=True), perplexity=ppl)
    rows = finetuning_table(Runs([tuned])).rows
    ours, paper = ([r for r in rows if (r["corpus"].text == "paper") == p] for p in (False, True))
    for row, text in zip(ours, ("contexts", "questions"), strict=True):
        assert row["text"].text == text
        assert row["perplexity_before"].values[""] == ppl[f"{text} before"]["mean"]
    assert [row["perplexity_after"].text for row in paper] == ["43.5", "52"]


def test_the_last_layer_without_gamma_has_its_own_column():
    last = {"elmo__layers": "last", "elmo__name": "last"}
    runs = [record("snli", **last), record("snli", **last, elmo__gamma=False), record("snli")]
    shown = [layers_table(Runs(some)).columns for some in (runs, [runs[0], runs[2]])]
    assert ["last_unscaled" in columns for columns in shown] == [True, False]
    [row, _] = layers_table(Runs(runs)).rows  # ours and the paper's
    assert row["last_unscaled"].values["mean"] != row["last"].values["mean"]
