import os
import subprocess
import sys

import pytest
import torch

from elmo_bench.training.gpus import take_gpu, visible_gpus

JOBLIB = {"_target_": "x.JoblibLauncher", "n_jobs": 2}
LOCAL = {"_target_": "x.LocalLauncher", "gpus_per_node": None}


@pytest.fixture(autouse=True)
def two_gpus(monkeypatch, tmp_path):
    """A machine with two GPUs, on which nothing runs."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("elmo_bench.training.gpus._held", [])
    for name in ("ELMO_BENCH_GPU", "ELMO_BENCH_GPUS_OF_SWEEP"):
        monkeypatch.setenv(name, "")  # so that what the code sets is undone
        monkeypatch.delenv(name)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")


@pytest.mark.parametrize(("number", "gpu"), [(0, "3"), (1, "5"), (2, "3")])
@pytest.mark.parametrize("launcher", [JOBLIB, LOCAL])
def test_parallel_jobs_take_the_gpus_in_turn(launcher, number, gpu):
    take_gpu(launcher, number)
    assert visible_gpus() == [gpu]


def test_a_process_keeps_the_gpu_of_its_first_job():
    for number in (1, 2, 4):
        take_gpu(JOBLIB, number)
    assert visible_gpus() == ["5"]


def test_a_gpu_that_another_process_has_is_taken_only_if_no_other_is_left(tmp_path):
    code = (
        f"import tempfile; tempfile.tempdir = {str(tmp_path)!r}\n"
        "from elmo_bench.training.gpus import take_gpu\n"
        f"take_gpu({JOBLIB}, 0); print('has it', flush=True); input()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as other:
        assert other.stdout.readline() == "has it\n"
        for number, gpu in ((2, "5"), (4, "3")):
            os.environ.pop("ELMO_BENCH_GPU", None)
            os.environ["CUDA_VISIBLE_DEVICES"] = "3,5"
            take_gpu(JOBLIB, number)
            assert visible_gpus() == [gpu]
        other.communicate("\n")


@pytest.mark.parametrize(("before", "gpu"), [("7,8,9", "8"), ("all", "1")])
@pytest.mark.parametrize("shown", ["", "0"])
def test_gpus_that_submitit_hides_from_its_jobs_are_found(monkeypatch, before, gpu, shown):
    monkeypatch.setenv("ELMO_BENCH_GPUS_OF_SWEEP", before)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    take_gpu(LOCAL, 1)
    assert visible_gpus() == [gpu]


@pytest.mark.parametrize(
    "launcher",
    [
        {"_target_": "x.BasicLauncher"},
        JOBLIB | {"n_jobs": 1},
        LOCAL | {"gpus_per_node": 0},
        {"_target_": "x.SlurmLauncher", "gpus_per_node": 1},
        {"_target_": "x.RayLauncher"},
    ],
)
def test_jobs_that_run_alone_or_get_their_gpu_from_others_see_what_they_saw(launcher):
    take_gpu(launcher, 1)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "3,5"
