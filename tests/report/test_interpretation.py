from dataclasses import replace

import numpy as np
import pytest

from elmo_bench.report.groups import Runs
from elmo_bench.report.interpretation import exceeds_spread, reading
from elmo_bench.report.weight_table import weight_table
from tests.report.synthetic_records import MINILM, open_record, record


def with_weights(seed, **placements):
    made = record("ner", seed)
    learned = {placement: {"weights": w, "gamma": 1.0} for placement, w in placements.items()}
    return replace(made, layer_weights=learned)


def scored(score, seed, **changes):
    made = record("snli", seed, **changes)
    return replace(made, scores={"dev": {"accuracy": score}, "test": {"accuracy": score}})


def test_a_consistent_difference_exceeds_the_spread():
    assert exceeds_spread(np.array([2.0, 2.1, 1.9]))


@pytest.mark.parametrize(
    "differences", [[2.0, 2.0], [1.0, 1.0, -0.1], [0.1, 0.1, 5.0]], ids=["few", "sign", "spread"]
)
def test_a_difference_of_few_seeds_or_within_the_spread_does_not(differences):
    assert not exceeds_spread(np.array(differences))


def test_a_layer_that_every_seed_favors_is_reported():
    runs = Runs(with_weights(seed, input=[0.2, 0.5 + seed / 100, 0.3]) for seed in (1, 2, 3))
    [sentence] = reading(runs)
    expected = "layer 1 has the largest weight in 1 of 1 settings, as in the paper: ner 0.52"
    assert expected in sentence


def test_no_layer_is_reported_if_the_order_changes_between_seeds():
    weights = [[0.2, 0.5, 0.3], [0.2, 0.35, 0.45], [0.2, 0.45, 0.35]]
    runs = Runs(with_weights(seed, input=w) for seed, w in enumerate(weights))
    assert reading(runs) == ["At the input, no layer is clearly ahead across the seeds of ner."]


def test_settings_with_two_seeds_are_left_out():
    runs = Runs(with_weights(seed, input=[0.1, 0.8, 0.1]) for seed in (1, 2))
    assert reading(runs) == ["Settings left out because they have fewer than 3 seeds: 1."]


def test_the_flatter_placement_is_reported():
    runs = Runs(
        with_weights(seed, input=[0.1, 0.7, 0.2], output=[0.35, 0.34, 0.31]) for seed in (1, 2, 3)
    )
    assert any("flatter at the output than at the input" in s for s in reading(runs))


def test_the_placement_that_is_ahead_of_all_others_is_reported():
    records = []
    for seed in (1, 2, 3):
        both = {"elmo__name": "both", "elmo__placement": ["input", "output"]}
        records.append(scored(80 + seed / 10, seed, **both))
        records.append(scored(78 + seed / 9, seed, elmo__name="input", elmo__placement=["input"]))
    [sentence] = [s for s in reading(Runs(records)) if "ahead of" in s]
    expected = "snli (mini): “Input & output” is best on dev accuracy, ahead of “Input only” by 1.9"
    assert sentence.startswith(expected)


def test_the_table_has_a_row_for_every_placement_and_the_interpretation_as_notes():
    runs = Runs(
        with_weights(seed, input=[0.1, 0.7, 0.2], output=[0.35, 0.34, 0.31]) for seed in (1, 2, 3)
    )
    table = weight_table(runs)
    assert [row["placement"].text for row in table.rows] == ["input", "output"]
    assert table.rows[0]["layer1"].text == "0.70 ± 0.00 (3)"
    assert set(reading(runs)) < set(table.notes)


def test_encoders_are_read_apart_and_only_a_bilm_is_like_the_papers():
    arms = [({}, "english"), (MINILM, "minilm")]
    shares = [0.1, 0.8, 0.1]
    made = [
        replace(open_record("ewt", seed, **arm), layer_weights=weights)
        for arm, _ in arms
        for seed in (1, 2, 3)
        for weights in [{"input": {"weights": shares, "gamma": 1.0}}]
    ]
    ours, other = (next(s for s in reading(Runs(made)) if f"With {name}" in s) for _, name in arms)
    assert "as in the paper" in ours and "as in the paper" not in other
