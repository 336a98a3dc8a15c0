from dataclasses import replace

import pytest

from elmo_bench.report.differences import differences
from elmo_bench.report.groups import Runs, group_records, mean_and_spread
from elmo_bench.report.labels import short_labels
from tests.report.synthetic_records import record


def test_runs_that_differ_only_in_the_seed_are_one_group():
    [group] = group_records([record("ner", seed) for seed in (3, 1, 2)])
    assert group.seeds == [1, 2, 3]


@pytest.mark.parametrize(
    "change",
    [
        {"elmo__l2": 0.5},
        {"data__train_fraction": 0.1},
        {"words__dim": 50},
        {"bilm__weights": "random"},
        {"task__build": {"hidden_dim": 51}},
    ],
)
def test_runs_that_differ_in_anything_else_are_never_one_group(change):
    assert len(group_records([record("ner", 1), record("ner", 2, **change)])) == 2


def test_a_bilm_trained_again_under_the_same_name_makes_another_group():
    again = record("ner", 2, bilm__fingerprint="0ddba11")
    assert len(group_records([record("ner", 1), again])) == 2


def test_the_same_bilm_under_another_name_is_the_same_group():
    assert len(group_records([record("ner", 1), record("ner", 2, bilm__name="copy")])) == 1


def test_a_repeated_run_counts_once_with_its_later_scores():
    first = record("ner", 1)
    later = replace(first, finished="2027-01-01T00:00:00+00:00", scores={"test": {"f1": 99.0}})
    [group] = group_records([later, first])
    assert group.scores("test") == [99.0]


def test_a_later_failure_does_not_hide_a_finished_run():
    done = record("ner", 1)
    broken = replace(done, error="broke", scores={}, finished="2027-01-01T00:00:00+00:00")
    [group] = group_records([broken, done])
    assert group.seeds == [1]


def test_the_baseline_of_a_run_has_the_same_data_words_and_model():
    runs = Runs(
        [record("ner", elmo=None), record("ner", elmo=None, words__name="glove"), record("ner")]
    )
    [group] = runs.with_elmo
    assert runs.baseline(group).any_record.words == "random"


def test_a_baseline_on_other_data_sizes_does_not_count():
    runs = Runs([record("ner", elmo=None), record("ner", data__train_fraction=0.1)])
    assert runs.baseline(runs.with_elmo[0]) is None


def test_differences_are_listed_only_for_groups_of_the_same_names():
    groups = group_records([record("ner"), record("ner", elmo__l2=5.0), record("srl")])
    assert sorted(differences(groups)) == ["", "elmo.l2=0.1", "elmo.l2=5.0"]


def test_labels_are_as_short_as_possible():
    groups = group_records([record("ner"), record("srl"), record("srl", words__name="glove")])
    assert short_labels(groups, ", ") == ["ner", "srl, glove", "srl, random"]


def test_one_run_has_no_spread():
    assert mean_and_spread([80.0]) == (80.0, None)


def versioned(task_version, bilm_version=1, **changes):
    made = record("ner", **changes)
    made.config["task"]["version"] = task_version
    if "bilm" in made.config:
        made.config["bilm"]["version"] = bilm_version
    return made


def test_runs_of_an_older_version_are_listed_but_not_shown_beside_newer_ones():
    old = [versioned(0, elmo=None), versioned(0), versioned(0, bilm__weights="random")]
    runs = Runs([*old, versioned(1, elmo=None)])
    assert [group.version("task") for group in runs.groups] == [1]
    assert len(runs.all_groups) == 4
    [elmo] = [g for g in runs.all_groups if not (g.is_baseline or g.is_untrained)]
    assert runs.baseline(elmo).version("task") == 0


def test_an_older_encoder_is_not_shown_beside_the_newer_one_of_its_name():
    runs = Runs(
        [
            versioned(1, 1),
            versioned(1, 2),
            versioned(1, 1, bilm__name="other", bilm__fingerprint="0dd"),
        ]
    )
    assert sorted((g.any_record.bilm, g.version("bilm")) for g in runs.groups) == [
        ("mini", 2),
        ("other", 1),
    ]


def test_versions_on_other_corpora_and_failures_replace_nothing():
    failed = replace(versioned(2), error="broke", scores={})
    runs = Runs([versioned(1), versioned(2, data__name="other", data__train_limit=9), failed])
    assert len(runs.groups) == 3
