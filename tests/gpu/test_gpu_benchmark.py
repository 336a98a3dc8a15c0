import subprocess
import sys

import pytest

from tests.conftest import PROJECT


@pytest.mark.slow
def test_the_benchmark_for_gpus_runs_on_the_cpu_too():
    command = [sys.executable, "benchmarks/gpu.py", "--device", "cpu", "--small", "--tasks", "sst5"]
    shown = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    for row in ("extraction", "pretraining", "sst5"):
        assert row in shown
    assert "tokens/s" in shown


@pytest.mark.slow
@pytest.mark.parametrize("elmo", ["paper", "none"])
def test_the_memory_of_tasks_is_measured(elmo):
    command = [sys.executable, "benchmarks/task_memory.py", "--device", "cpu", "--elmo", elmo]
    command += ["--tasks", "sst5", "ner", "--tokens", "8"]
    shown = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    rows = {line.split()[1]: line for line in shown.splitlines() if "padded" in line}
    assert "100 x 8, 800 padded" in rows["sst5"] and "64 x 8, 512 padded" in rows["ner"]
    training, evaluation = (float(cell) for cell in rows["sst5"].split("│")[4:6])
    assert 0.12 < evaluation < training < 1  # the vectors of words alone are 0.12 GB
