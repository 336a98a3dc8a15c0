"""A seventh task is one folder and one yaml: those of tests/tasks/seventh, in a copied checkout."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from elmo_bench.records.run import read_records
from tests.conftest import PROJECT, TINY

SEVENTH = PROJECT / "tests" / "tasks" / "seventh"
OPTIONS = [word for word in TINY if not word.startswith("task.")]
PREDICT = """
from elmo_bench.cli import main
from elmo_bench.tasks.pos.task import PosTask

with open("text.txt", "w") as file:
    file.write(PosTask.example_text)
main(["predict", "{run}", "text.txt", "--json"])
"""


@pytest.fixture
def checkout(tmp_path):
    """A copy of the checkout in which somebody has added a task."""
    for name in ("conf", "elmo_bench", "tasks", "tests"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT / name, tmp_path / name, symlinks=True, ignore=ignored)
    for name in ("run.py", "pyproject.toml"):
        shutil.copy(PROJECT / name, tmp_path)
    shutil.copytree(SEVENTH, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def call(checkout):
    """A function that runs Python in that copy and returns what it printed."""

    def call_python(*arguments, status=0):
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=checkout,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stderr if status else done.stdout

    return call_python


def test_a_task_is_trained_scored_compared_and_used_without_a_change_elsewhere(checkout, call):
    call("run.py", "task=pos", *OPTIONS)
    baseline, elmo = sorted(read_records(checkout / "results" / "runs"), key=lambda r: r.elmo)
    assert (baseline.task, baseline.elmo, elmo.task, elmo.elmo) == ("pos", "none", "pos", "paper")
    assert baseline.sizes["train examples"] == 16  # its own sample, not the mini benchmark
    assert elmo.epochs[-1]["train/loss"] < elmo.epochs[0]["train/loss"]

    refused = call("run.py", "task=pos", "elmo=output", *OPTIONS, status=2)
    assert "elmo.placement=output: the model of task=pos takes ELMo vectors only at: in" in refused

    [run] = (checkout / "outputs" / "runs").glob("pos-paper-*")
    gold = "tasks/pos/sample/test.txt"
    scores = call("-m", "elmo_bench.cli", "score", "pos", gold, str(run / "test.txt"), "--json")
    tested = {arm.elmo: arm.scores["test"]["accuracy"] for arm in (baseline, elmo)}
    assert json.loads(scores)["accuracy"] == pytest.approx(tested["paper"], abs=1e-4)

    compared = json.loads(call("-m", "elmo_bench.cli", "compare", "--format", "json"))
    [row] = [row for row in compared["tables"][0]["rows"] if row["task"] == "pos"]
    assert row["elmo_mean"] == pytest.approx(tested["paper"])
    assert row["baseline_mean"] == pytest.approx(tested["none"])

    predicted = json.loads(call("-c", PREDICT.format(run=run)))
    [tokens] = predicted["tokens"]
    assert len(predicted["prediction"]) == len(tokens) == 5


def test_the_tests_of_every_task_find_it_and_pass(call):
    files = ["tests/tasks/test_tasks.py", "tests/tasks/test_models.py"]
    shown = call("-m", "pytest", "-vv", "-p", "no:cacheprovider", *files, "-k", "pos")
    assert all(f"{file}::" in shown for file in files)
