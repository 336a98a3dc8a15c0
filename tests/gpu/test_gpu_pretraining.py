"""Pretraining on the simulated GPU: the CPU's numbers, few launches, exact resumes."""

import numpy as np
import pytest
from pytorch_lightning import Callback

from elmo_bench.pretraining.stage import pretrain
from tests.gpu.simulated import new_trainer
from tests.pretraining.tiny_pretraining import compose_pretraining, losses, tiny

NO_DROPOUT = "bilm.lstm.dropout=0"
LOSSES = {
    "full": "pretraining.loss.kind=full",
    "adaptive": "pretraining.loss={kind:adaptive,cutoffs:[8,14],div_value:2}",
    "sampled": "pretraining.loss={kind:sampled,num_negatives:8}",
}
ADAGRAD = "pretraining.optimizer={kind:adagrad,lr:0.1}"


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


def test_a_step_at_the_original_depth_has_few_launches_and_syncs(gpu, tmp_path, monkeypatch):
    counted = []

    class Count(Callback):
        def on_train_batch_start(self, *_):
            gpu.Counts()

        def on_train_batch_end(self, *_):
            counted.append(gpu.Counts())

    def with_count(callbacks, **settings):
        return new_trainer(callbacks=[Count(), *callbacks], **settings)

    monkeypatch.setattr("elmo_bench.pretraining.trainer.Trainer", with_count)
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
            "trainer.log_every_n_steps=100",
            *sizes,
        )
    )
    print(counted[-1], counted[-1].top(40))  # shown if the test fails
    assert max(count.num_launches for count in counted) < 1500
    assert max(count.num_syncs for count in counted[1:]) <= 2
