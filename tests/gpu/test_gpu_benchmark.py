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
