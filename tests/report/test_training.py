from dataclasses import replace

import pytest

from elmo_bench.report.groups import Runs
from elmo_bench.report.training import is_converged, to_best
from elmo_bench.report.update_table import update_table
from tests.report.synthetic_records import open_record, record


def trained(scores, task="ner", **training):
    """A run with these dev scores, one per epoch of ten updates."""
    made = record(task, task__training=training)
    rows = [
        {"epoch": epoch, "step": 10 * epoch, f"dev/{made.metric}": score}
        for epoch, score in enumerate(scores, start=1)
    ]
    return replace(made, epochs=rows)


@pytest.mark.parametrize(
    ("scores", "training", "converged"),
    [
        ([1, 2, 3], {"max_epochs": 3, "patience": 2}, False),  # still rising
        ([1, 3, 2], {"max_epochs": 3, "patience": 2}, False),  # one more might be better
        ([3, 2, 2], {"max_epochs": 3, "patience": 2}, True),  # patience ended with max_epochs
        ([1, 3, 2, 2], {"max_epochs": 9, "patience": 2}, True),
        ([1, 3, 2, 4, 3], {"max_epochs": 5, "patience": 9, "max_halvings": 1}, True),
        ([1, 3, 2, 4, 4], {"max_epochs": 5, "patience": 9, "max_halvings": 1}, False),
        ([1, 2, 3], {}, None),
        ([], {"max_epochs": 3}, None),
    ],
)
def test_a_training_converged_if_it_ended_before_max_epochs(scores, training, converged):
    assert is_converged(trained(scores, **training)) is converged


def test_the_length_of_a_training_is_that_to_the_first_best_score():
    [group] = Runs([trained([1, 3, 3, 2], max_epochs=9)]).groups
    assert to_best(group) == (20.0, 2.0)


def row_of(records):
    return update_table(Runs(records)).rows[0]


def test_updates_are_counted_to_the_best_and_to_the_baselines_best():
    baseline, elmo = open_record("worldwide", elmo=None), open_record("worldwide")
    baseline = replace(baseline, epochs=trained([50, 60, 70, 80, 79]).epochs)
    elmo = replace(elmo, epochs=trained([70, 81, 85, 84]).epochs)
    row = row_of([baseline, elmo])
    texts = {key: row[key].text for key in ("baseline", "elmo", "reached", "fewer")}
    assert texts == {
        "baseline": "40 (4)", "elmo": "30 (3)", "reached": "20", "fewer": "50 %",
    }  # fmt: skip


def test_a_run_that_never_reaches_the_baselines_best_says_so():
    baseline, elmo = open_record("ewt", elmo=None), open_record("ewt")
    elmo.epochs[:] = [row | {"dev/f1": 1.0} for row in elmo.epochs]
    row = row_of([baseline, elmo])
    assert row["reached"].text == "never" and "fewer" not in row


def test_the_papers_98_percent_are_next_to_srl():
    rows = update_table(Runs([open_record("ewt")])).rows
    assert [row["fewer"].text for row in rows if row["corpus"].text == "paper"] == ["98 %"]
