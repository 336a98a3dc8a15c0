import os
import subprocess
import sys

import pytest
from safetensors.torch import load_file

from elmo_bench.pretraining.stage import pretrain
from tests.conftest import PROJECT
from tests.pretraining.tiny_pretraining import (
    compose_pretraining,
    kill_after_next_checkpoint,
    losses,
    tiny,
)

# No dropout: every process draws the masks of its own rows.
SAME = ("bilm.lstm.dropout=0", "pretraining.accumulate_grad_batches=2", "pretraining.epochs=4")
TWO = ("trainer.devices=2", "trainer.strategy=ddp")


def run(folder, *overrides):
    command = [sys.executable, "pretrain.py", *tiny(folder, *SAME, *overrides)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    "loss",
    [
        ["pretraining.loss={kind:adaptive,cutoffs:[8,14],div_value:2}"],
        ["pretraining.loss={kind:sampled,num_negatives:12}"],
        [
            "pretraining.loss={kind:sampled,num_negatives:4}",
            "pretraining.optimizer={kind:adagrad,lr:0.1}",
        ],
    ],
)
def test_two_processes_compute_what_one_does(tmp_path, loss):
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir(), two.mkdir()
    pretrain(compose_pretraining(*tiny(one, *SAME, *loss)))
    run(two, *loss, *TWO)
    curves = [[float(row.split(",")[1]) for row in losses(folder)] for folder in (one, two)]
    assert curves[1] == pytest.approx(curves[0], rel=1e-4)
    for file in ("weights.safetensors", "softmax.safetensors"):
        weights = [load_file(folder / "bilm" / "mini" / file) for folder in (one, two)]
        for name, tensor in weights[0].items():
            assert tensor.sub(weights[1][name]).abs().max() < 1e-3, name


def test_two_processes_resume_from_the_checkpoint_of_one(tmp_path):
    whole, split = tmp_path / "whole", tmp_path / "split"
    whole.mkdir(), split.mkdir()
    more = (*SAME, "pretraining.epochs=12", "trainer.checkpoint_steps=5")
    pretrain(compose_pretraining(*tiny(whole, *more)))
    command = [sys.executable, "pretrain.py", *tiny(split, *more)]
    kill_after_next_checkpoint(command, split / "outputs/pretraining/mini/resume.ckpt")
    run(split, *more, *TWO)
    curves = [[float(row.split(",")[1]) for row in losses(folder)] for folder in (whole, split)]
    assert curves[1] == pytest.approx(curves[0], rel=1e-3)


def test_rows_that_cannot_be_divided_among_processes_are_refused(tmp_path):
    with pytest.raises(AssertionError, match="cannot be divided among 2 processes"):
        run(tmp_path, "pretraining.batch_size=3", *TWO)
