import json
import subprocess
import sys

import pytest
import torch
from pytorch_lightning import LightningModule, Trainer

from elmo_bench import BiLm
from elmo_bench.pretraining import stage
from elmo_bench.pretraining.identity import pretraining_identity
from elmo_bench.pretraining.resume import RESUME, ResumeCheckpoint
from elmo_bench.pretraining.stage import pretrain
from elmo_bench.training.losses import DivergedError
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


@pytest.fixture(scope="module")
def official(tmp_path_factory):
    """Official weights, which have no softmax, of a tiny biLM."""
    folder = tmp_path_factory.mktemp("official")
    bilm = BiLm.load(pretrain(compose_pretraining(*tiny(folder, "pretraining.epochs=15"))))
    bilm.dump_official(folder / "options.json", folder / "weights.hdf5")
    return folder


def finetuning(folder, official, *overrides: str):
    start = [f"init_from={official}", "name=tuned", "trainer.checkpoint_steps=7"]
    recipe = ["pretraining.new_softmax.patience=2", "pretraining.new_softmax.lr=0.02"]
    folder.mkdir(exist_ok=True)
    words = [*tiny(folder, *start, *recipe), "pretraining.optimizer.lr=0.001", *overrides]
    return compose_pretraining(*words)


def test_a_new_softmax_is_trained_alone_first_until_it_no_longer_improves(tmp_path, official):
    folder = pretrain(finetuning(tmp_path, official))
    record = json.loads((folder / "training.json").read_text())
    alone = [row["perplexity"]["held"]["mean"] for row in record["new_softmax"]]
    best = min(alone)
    assert len(alone) == alone.index(best) + 3  # two measurements of patience
    before = record["history"][0]
    assert before["step"] == 0
    assert before["perplexity"]["held"]["mean"] == pytest.approx(best)
    assert record["perplexity"]["held"]["mean"] < best < 12  # of 23 words
    assert BiLm.load(folder).fingerprint() != BiLm.load(official).fingerprint()


def test_the_bilm_is_frozen_while_its_new_softmax_is_trained(tmp_path, official, monkeypatch):
    seen = []

    def fit(settings, identity, model, *rest):
        seen.append((model[0].fingerprint(), model[0].training))
        trained = train(settings, identity, model, *rest)
        seen.append((model[0].fingerprint(), model[0].training))
        return trained

    train = stage._fit
    monkeypatch.setattr(stage, "_fit", fit)
    pretrain(finetuning(tmp_path, official))
    before, after, start, end = seen
    assert before == after and before[0] == start[0] != end[0]
    assert (after[1], start[1]) == (False, True)


class CutOffError(Exception):
    """Stands for a killed process: the training ends, and only its files are left."""


def test_fine_tuning_cut_off_in_either_stage_ends_as_if_it_was_not(tmp_path, official, monkeypatch):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    expected = pretrain(finetuning(whole, official))
    scratch = cut / "outputs" / "pretraining" / "tuned"
    files = [scratch / "new_softmax" / RESUME, scratch / RESUME]
    save = ResumeCheckpoint.save
    for file in files:

        def save_and_end(self, trainer, pl_module, file=file):
            save(self, trainer, pl_module)
            if self.path == file:
                raise CutOffError

        monkeypatch.setattr(ResumeCheckpoint, "save", save_and_end)
        with pytest.raises(CutOffError):
            pretrain(finetuning(cut, official))
    monkeypatch.undo()
    assert all(file.exists() for file in files)
    tuned = pretrain(finetuning(cut, official))
    for name in ("tuned", "tuned/new_softmax"):
        assert losses(cut, name) == losses(whole, name)
    for name in ("weights.safetensors", "softmax.safetensors"):
        assert (tuned / name).read_bytes() == (expected / name).read_bytes()
    assert not any(file.exists() for file in files)


def test_only_a_bilm_without_softmax_depends_on_how_a_new_one_is_trained(tmp_path, official):
    def identity(*overrides):
        return pretraining_identity(finetuning(tmp_path, official, *overrides))

    patient = "pretraining.new_softmax.patience=9"
    assert identity() != identity(patient)
    own = f"init_from={official / 'bilm' / 'mini'}"
    assert identity(own) == identity(own, patient)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_model_that_is_not_finite_is_not_saved(tmp_path, value):
    model = LightningModule()
    model.weight = torch.nn.Parameter(torch.tensor([[1.0, value], [2.0, 3.0]]))
    trainer = Trainer(accelerator="cpu", logger=False, default_root_dir=tmp_path)
    checkpoint = ResumeCheckpoint(tmp_path / RESUME, None, None)
    with pytest.raises(DivergedError, match="weight is not finite after step 0"):
        checkpoint.save(trainer, model)
