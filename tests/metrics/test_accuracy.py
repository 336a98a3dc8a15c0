import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_bench.metrics import accuracy

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1)


def test_hand_worked_accuracy_of_names_and_numbers():
    assert accuracy(["entailment", "neutral"], ["entailment", "contradiction"]) == {"accuracy": 50}
    assert accuracy([0, 4, 2, 1], [0, 4, 2, 3]) == {"accuracy": 75}


@given(PAIRS)
def test_bounded_symmetric_and_independent_of_order(pairs):
    gold, pred = [g for g, _ in pairs], [p for _, p in pairs]
    score = accuracy(gold, pred)
    assert 0 <= score["accuracy"] <= 100
    assert score == accuracy(pred, gold) == accuracy(gold[::-1], pred[::-1])


@given(st.lists(st.integers(), min_size=1))
def test_gold_against_itself_is_perfect(labels):
    assert accuracy(labels, labels) == {"accuracy": 100}


def test_different_numbers_of_labels_are_rejected():
    with pytest.raises(ValueError, match="gold has 2 labels but pred has 1"):
        accuracy([1, 2], [1])


def test_empty_lists_are_rejected():
    with pytest.raises(ValueError, match="undefined"):
        accuracy([], [])
