import numpy as np
import pytest
from scipy.stats import permutation_test

from elmo_bench.records.predictions import score
from elmo_bench.report.significance import compare_runs, p_value
from tests.report.synthetic_records import record, write


def accuracy_counts(right):
    """Counts of one seed: (1, example, 1 group, 4)."""
    right = np.asarray(right, dtype=float)
    one = np.ones_like(right)
    return np.stack([right, one, right, one], axis=-1)[None, :, None]


def test_the_p_value_agrees_with_scipys_exact_test():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 12), rng.integers(0, 2, 12)
    exact = permutation_test(
        (a, b), lambda x, y, axis: np.mean(y - x, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=np.inf,
    )  # fmt: skip
    sampled = p_value(accuracy_counts(a), accuracy_counts(b), rounds=40_000)
    assert sampled == pytest.approx(exact.pvalue, abs=0.01)


def test_equal_systems_have_a_p_value_of_one():
    right = np.random.default_rng(1).integers(0, 2, 200)
    assert p_value(accuracy_counts(right), accuracy_counts(right)) == 1.0


def test_a_system_that_is_better_on_every_example_is_significantly_different():
    a, b = accuracy_counts(np.zeros(100)), accuracy_counts(np.ones(100))
    assert p_value(a, b, rounds=999) == pytest.approx(1 / 1000)


def test_copies_of_a_run_do_not_increase_significance():
    rng = np.random.default_rng(2)
    a, b = (accuracy_counts(rng.integers(0, 2, 80)) for _ in range(2))
    once, often = p_value(a, b), p_value(np.repeat(a, 5, axis=0), np.repeat(b, 5, axis=0))
    assert once == pytest.approx(often)


def test_false_positives_are_as_rare_as_the_p_value_says():
    rng = np.random.default_rng(3)
    draws = rng.integers(0, 2, (300, 2, 60))
    found = [p_value(accuracy_counts(a), accuracy_counts(b), rounds=199) for a, b in draws]
    assert np.mean(np.array(found) <= 0.1) <= 0.15


def test_the_score_is_the_f1_of_summed_counts():
    counts = np.array([[[2.0, 3, 2, 2]], [[0.0, 1, 0, 2]]])  # precision 2/4, recall 2/4
    assert score(counts.sum(axis=0)) == pytest.approx(50)


def test_the_score_is_the_mean_over_groups():
    assert score(np.array([[1.0, 1, 1, 1], [0, 0, 0, 4]])) == pytest.approx(50)


def test_without_stored_predictions_there_is_no_p_value(tmp_path):
    assert compare_runs([(record("ner", elmo=None), record("ner"))]) is None


def test_a_damaged_file_of_predictions_is_reported_by_name_and_gives_no_p_value(tmp_path, caplog):
    from elmo_bench.records.run import read_record

    written = read_record(write(record("ner"), tmp_path))
    (tmp_path / written.predictions).write_bytes(b"not gzip")
    assert compare_runs([(written, written)]) is None
    assert written.predictions in caplog.text
