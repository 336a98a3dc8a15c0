import os

import pytest

from elmo_bench.sweep.gpus import take_gpu, visible_gpus


@pytest.fixture(autouse=True)
def two_gpus(monkeypatch):
    monkeypatch.delenv("ELMO_BENCH_GPU", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")


@pytest.mark.parametrize(("number", "gpu"), [(0, "3"), (1, "5"), (2, "3")])
def test_parallel_jobs_take_the_gpus_in_turn(number, gpu):
    take_gpu({"n_jobs": 2}, number)
    assert visible_gpus() == [gpu]


def test_a_process_keeps_the_gpu_of_its_first_job():
    for number in (1, 2, 4):
        take_gpu({"n_jobs": 2}, number)
    assert visible_gpus() == ["5"]


@pytest.mark.parametrize("launcher", [{}, {"n_jobs": 1}, {"cpus_per_task": 2}])
def test_jobs_that_run_alone_or_get_their_gpu_from_others_see_all(launcher):
    take_gpu(launcher, 1)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "3,5"
