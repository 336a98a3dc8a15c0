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


def test_the_golden_numbers_are_those_of_the_present_versions():
    assert golden.versions() == GOLDEN["versions"], "run `python -m tests.golden`"


def test_changed_numbers_need_a_new_version():
    changed = json.loads(json.dumps(GOLDEN))
    changed["tasks"]["ner"]["scores"]["test"]["f1"] += 1
    changed["pretraining"][0] += 1
    assert golden.unversioned(GOLDEN, changed) == ["ner", "pretraining"]
    changed["versions"]["ner"] += 1
    assert golden.unversioned(GOLDEN, changed) == ["pretraining"]
    assert golden.unversioned(GOLDEN, GOLDEN) == []


def test_the_generated_benchmark_has_the_golden_bytes(tmp_path):
    assert golden.mini_hashes(tmp_path) == GOLDEN["mini"]
