"""A study that many real processes work on, and that are killed at random moments."""

import random
import subprocess
import sys
import time

import pytest
from optuna.trial import TrialState

from elmo_bench.tune.study import Search
from tests.conftest import PROJECT

pytestmark = pytest.mark.slow
TOTAL = 24


def test_processes_that_are_killed_neither_lose_nor_repeat_trials(settings, tmp_path):
    command = [sys.executable, "-m", "tests.tune.stubbed", "tune", "ner", "--study", "s"]
    command += ["--trials", str(TOTAL), "--with", *settings]
    source, processes, kills = random.Random(1), [], 0

    def start():
        output = (tmp_path / f"output-{len(processes)}.txt").open("w")
        return subprocess.Popen(command, cwd=PROJECT, stdout=output, stderr=output)

    log = tmp_path / "outputs" / "tune" / "s" / "trials.log"
    while kills < 8:
        alive = [process for process in processes if process.poll() is None]
        if len(alive) < 3:
            processes.append(start())
            continue
        if log.exists():  # else all are still importing
            time.sleep(source.uniform(0, 1.5))
            victim = source.choice(alive)
            victim.kill()
            kills += victim.wait() == -9
        time.sleep(0.1)
    processes.extend([start(), start()])
    for process in processes:
        process.wait()
    texts = [path.read_text() for path in sorted(tmp_path.glob("output-*.txt"))]
    codes = [process.returncode for process in processes]
    assert set(codes) <= {0, -9} and codes.count(-9) == kills, "\n".join(texts)
    search = Search("ner", settings, "s")
    trials = search.trials()
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * TOTAL
    assert len({str(sorted(trial.params.items())) for trial in trials}) == TOTAL
    # Only a trial that was killed was trained more than once.
    trained = (log.parent / "trained.txt").read_text().splitlines()
    assert len(trained) == len(set(trained))
    assert len(trained) <= TOTAL + kills
