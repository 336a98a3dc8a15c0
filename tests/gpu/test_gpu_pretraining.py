"""Pretraining on the simulated GPU: the CPU's numbers, few launches, exact resumes."""

import json

import numpy as np
import pytest

from elmo_bench.bilm.model import BiLm
from elmo_bench.pretraining.resume import RESUME, ResumeCheckpoint
from elmo_bench.pretraining.stage import pretrain
from tests.pretraining.tiny_pretraining import compose_pretraining, losses, tiny

NO_DROPOUT = "bilm.lstm.dropout=0"
LOSSES = {
    "full": "pretraining.loss.kind=full",
    "adaptive": "pretraining.loss={kind:adaptive,cutoffs:[8,14],div_value:2}",
    "sampled": "pretraining.loss={kind:sampled,num_negatives:8}",
}
ADAGRAD = "pretraining.optimizer={kind:adagrad,lr:0.1}"
ENCODERS = {
    "char_rnn": "bilm.encoder={kind:char_rnn,char_dim:4,hidden_dim:6,max_chars:20}",
    "word": "bilm.encoder={kind:word,word_dim:8,vectors:null,trainable:true}",
}
GPU = "trainer.accelerator=auto"


def curve(folder):
    return [float(line.split(",")[1]) for line in losses(folder)]


def trained(folder, *overrides):
    folder.mkdir()
    pretrain(compose_pretraining(*tiny(folder, NO_DROPOUT, "name=mini", *overrides)))
    return curve(folder)


@pytest.mark.parametrize(
    "chosen",
    [
        (LOSSES["full"],),
        (LOSSES["adaptive"],),
        (LOSSES["sampled"], ADAGRAD, "pretraining.accumulate_grad_batches=2"),
        pytest.param((LOSSES["sampled"],), marks=pytest.mark.slow),
    ],
)
def test_the_losses_are_those_of_the_cpu(gpu, tmp_path, monkeypatch, chosen):
    there = trained(tmp_path / "gpu", "trainer.accelerator=auto", *chosen)
    monkeypatch.undo()
    assert there == pytest.approx(trained(tmp_path / "cpu", *chosen), rel=1e-3)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_losses_of_other_encoders_are_those_of_the_cpu(gpu, tmp_path, monkeypatch, encoder):
    curves = []
    for name, *device in (("gpu", GPU), ("cpu",)):
        (tmp_path / name).mkdir()
        words = tiny(tmp_path / name, NO_DROPOUT, "name=mini", "pretraining.epochs=1", *device)
        kept = [w for w in words if not w.startswith(("bilm.encoder", "bilm=mini"))]
        pretrain(compose_pretraining(f"bilm=mini_{encoder}", ENCODERS[encoder], *kept))
        curves.append(curve(tmp_path / name))
        monkeypatch.undo()
    assert curves[0] == pytest.approx(curves[1], rel=1e-3)


@pytest.mark.parametrize(
    ("loss", "precision"), [("sampled", "bf16-mixed"), ("adaptive", "16-mixed")]
)
def test_the_losses_in_mixed_precision_are_near_those_of_the_cpu(
    gpu, tmp_path, monkeypatch, precision, loss
):
    chosen = [LOSSES[loss], *([ADAGRAD] if loss == "sampled" else [])]
    there = trained(tmp_path / "gpu", GPU, f"pretraining.precision={precision}", *chosen)
    monkeypatch.undo()
    assert there == pytest.approx(trained(tmp_path / "cpu", *chosen), rel=0.05)


class CutOffError(Exception):
    """Stands for a killed process."""


@pytest.mark.parametrize("chosen", [(), (LOSSES["sampled"], ADAGRAD)])
def test_a_training_that_was_cut_off_ends_as_if_it_was_not(gpu, tmp_path, monkeypatch, chosen):
    words = ("bilm.lstm.dropout=0.2", "trainer.checkpoint_steps=7", "name=mini", GPU, *chosen)
    save, folders = ResumeCheckpoint.save, []

    def save_and_end(self, trainer, pl_module):
        save(self, trainer, pl_module)
        raise CutOffError

    for name in ("whole", "cut"):
        (tmp_path / name).mkdir()
        settings = compose_pretraining(*tiny(tmp_path / name, *words))
        if name == "cut":
            with monkeypatch.context() as patched, pytest.raises(CutOffError):
                patched.setattr(ResumeCheckpoint, "save", save_and_end)
                pretrain(settings)
            assert (tmp_path / "cut" / "outputs" / "pretraining" / "mini" / RESUME).exists()
        folders.append(pretrain(settings))
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    whole, cut = ((folder / "weights.safetensors").read_bytes() for folder in folders)
    assert whole == cut


def test_a_bilm_without_a_softmax_is_fine_tuned_as_on_the_cpu(gpu, tmp_path, monkeypatch):
    start = tmp_path / "start"
    start.mkdir()
    bilm = BiLm.load(pretrain(compose_pretraining(*tiny(start, "pretraining.epochs=1"))))
    bilm.dump_official(start / "options.json", start / "weights.hdf5")
    recipe = (f"init_from={start}", "pretraining.new_softmax.lr=0.02", NO_DROPOUT)
    recipe += ("pretraining.new_softmax.max_epochs=2",)
    found = []
    for name, *device in (("gpu", GPU), ("cpu",)):
        (tmp_path / name).mkdir()
        words = tiny(tmp_path / name, *recipe, "name=tuned", "pretraining.epochs=1", *device)
        folder = pretrain(compose_pretraining(*words))
        record = json.loads((folder / "training.json").read_text())
        found.append([r["perplexity"]["held"]["mean"] for r in record["history"]])
        found[-1] += [r["perplexity"]["held"]["mean"] for r in record["new_softmax"]]
        monkeypatch.undo()
    assert len(found[0]) > 3
    assert found[0] == pytest.approx(found[1], rel=1e-3)


def test_a_step_at_the_original_depth_has_few_launches_and_syncs(step_counts, tmp_path):
    draws = np.random.default_rng(1)
    words = ["".join(draws.choice(list("abcdefgh"), n)) for n in draws.poisson(6, 400) + 1]
    lines = [" ".join(draws.choice(words, 20)) for _ in range(60)]
    for name in ("text", "held"):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    sizes = ("bilm.lstm.hidden_dim=8", "bilm.lstm.projection_dim=4", "name=mini")
    original = [o for o in tiny(tmp_path) if not o.startswith(("bilm", "pretraining"))]
    pretrain(
        compose_pretraining(
            *original,
            *("bilm=original", "pretraining.vocabulary.min_count=1", "pretraining.batch_size=8"),
            *("pretraining.loss.num_negatives=64", "trainer.accelerator=auto"),
            *("trainer.log_every_n_steps=100", "pretraining.epochs=1"),
            "pretraining.num_validations=1",
            *sizes,
        )
    )
    print(step_counts[-1], step_counts[-1].top(40))  # shown if the test fails
    assert max(count.num_launches for count in step_counts) < 1500
    assert max(count.num_syncs for count in step_counts[1:]) <= 2
