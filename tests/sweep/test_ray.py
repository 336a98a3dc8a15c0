import subprocess
import sys

import pytest

from elmo_bench.records.run import read_records
from elmo_bench.sweep.job import read_jobs
from tests.conftest import PROJECT, TINY, paths_below


@pytest.mark.slow
def test_a_sweep_on_ray_shares_the_results_folder(tmp_path):
    pytest.importorskip("ray", reason="pip install -e .[ray]")
    words = ["task=ner", "elmo=paper,none", "seed=1,2", "baseline=skip", "hydra/launcher=ray"]
    words += ["hydra.launcher.num_gpus=2"]  # Ray believes it
    command = [sys.executable, "run.py", "-m", *words, *TINY, *paths_below(tmp_path)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[4/4]" in done.stdout
    assert len(read_records(tmp_path / "results")) == 4
    [sweep] = (tmp_path / "outputs" / "sweeps").iterdir()
    jobs = list(read_jobs(sweep))
    assert [job.threads for job in jobs] == [1, 1, 1, 1]
    assert {job.gpus for job in jobs} == {"0", "1"}
