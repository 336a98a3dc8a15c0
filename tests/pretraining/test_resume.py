import subprocess
import sys

import pytest

from elmo_bench.pretraining.stage import pretrain
from tests.conftest import PROJECT
from tests.pretraining.tiny_pretraining import (
    compose_pretraining,
    kill_after_next_checkpoint,
    losses,
    tiny,
)

DROPOUT = ("bilm.lstm.dropout=0.2", "pretraining.epochs=10", "trainer.checkpoint_steps=7")


@pytest.mark.parametrize(
    "extra",
    [
        (),
        (
            "pretraining.loss.kind=sampled",
            "pretraining.loss.num_negatives=8",
            "pretraining.optimizer={kind:adagrad,lr:0.1}",
            "pretraining.accumulate_grad_batches=2",
        ),
    ],
)
def test_a_killed_training_ends_with_the_losses_of_one_that_was_not(tmp_path, extra):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
    pretrain(compose_pretraining(*tiny(whole, *DROPOUT, *extra)))
    command = [sys.executable, "pretrain.py", *tiny(killed, *DROPOUT, *extra)]
    resume = killed / "outputs" / "pretraining" / "mini" / "resume.ckpt"
    for _ in range(2):
        kill_after_next_checkpoint(command, resume)
    assert not (killed / "bilm" / "mini").exists()
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
    assert losses(killed) == losses(whole)
    weights = [folder / "bilm" / "mini" / "weights.safetensors" for folder in (whole, killed)]
    assert weights[0].read_bytes() == weights[1].read_bytes()
