"""The golden numbers are reproduced; see tests/golden.py for what they are and when they change."""

import json

import pytest

from tests import golden

GOLDEN = json.loads(golden.FILE.read_text())
CLOSE = {"rel": 1e-3, "abs": 1e-6}  # other processors round differently


def numbers(value):
    """Every number in a nested value, with its path as the key."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        return {"": value}
    return {f"/{key}{path}": n for key, below in items for path, n in numbers(below).items()}


def test_pretraining_has_the_golden_losses(tmp_path):
    assert golden.pretraining_losses(tmp_path) == pytest.approx(GOLDEN["pretraining"], **CLOSE)


@pytest.mark.parametrize("task", sorted(GOLDEN["tasks"]))
def test_a_run_of_each_task_has_the_golden_outcome(task, tmp_path, shared_cache):
    outcome = golden.run_outcome(task, tmp_path, shared_cache)
    assert numbers(outcome) == pytest.approx(numbers(GOLDEN["tasks"][task]), **CLOSE)


def test_the_generated_benchmark_has_the_golden_bytes(tmp_path):
    assert golden.mini_hashes(tmp_path) == GOLDEN["mini"]
