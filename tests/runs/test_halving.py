"""The schedule of SNLI, and dev passes that are counted in steps."""

import pytest
import torch
from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.callbacks import ModelCheckpoint

from elmo_bench.config.compose import run_settings
from elmo_bench.config.errors import ConfigError
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.halving import HalveAndRestore
from elmo_bench.runs.history import MetricsHistory
from elmo_bench.runs.trainer import new_trainer
from elmo_bench.training.checkpoints import SealedCheckpoints


class Scripted(LightningModule):
    """Its weight counts the epochs trained; its dev scores are given."""

    def __init__(self, scores):
        super().__init__()
        self.scores, self.weight = iter(scores), torch.nn.Parameter(torch.zeros(()))
        self.seen = []  # the weight and the rate with which each epoch starts

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1.0)

    def train_dataloader(self):
        return [0]

    val_dataloader = train_dataloader

    def on_train_epoch_start(self):
        self.seen.append((self.weight.item(), self.optimizers().param_groups[0]["lr"]))

    def training_step(self, batch, batch_idx):
        return -self.weight * 1.0  # adds the rate to the weight

    def validation_step(self, batch, batch_idx):
        self.log("dev/f1", next(self.scores), batch_size=1)


def fit(scores, folder, max_halvings):
    module = Scripted(scores)
    trainer = Trainer(
        accelerator="cpu",
        max_epochs=len(scores),
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        callbacks=[
            ModelCheckpoint(folder, "best", monitor="dev/f1", mode="max"),
            HalveAndRestore("dev/f1", folder / "best.ckpt", max_halvings),
        ],
    )
    trainer.fit(module)
    return module.seen


def test_a_worse_score_halves_the_rate_and_restores_the_best_weights(tmp_path):
    seen = fit([50.0, 60.0, 55.0, 60.0, 70.0, 65.0], tmp_path, max_halvings=7)
    # The third epoch is undone; the fourth equals the best and is kept; the fifth is the best.
    assert seen == [(0, 1), (1, 1), (2, 1), (2, 0.5), (2.5, 0.5), (3, 0.5)]


def test_the_training_ends_instead_of_the_halving_after_the_last(tmp_path):
    seen = fit([60.0, 50.0, 70.0, 50.0, 50.0, 50.0, 50.0], tmp_path, max_halvings=3)
    assert [rate for _, rate in seen] == [1, 1, 0.5, 0.5, 0.25, 0.125]


def test_halving_goes_with_no_other_schedule():
    with pytest.raises(ConfigError, match=r"max_halvings.*task\.training\.ema"):
        run_settings(["task=snli", "data=files", "task.training.ema=0.9"])


@pytest.mark.parametrize(("steps", "interval"), [(5000, 1200), (1200, 1.0), (10, 1.0)])
def test_dev_passes_are_counted_in_steps_but_there_is_one_in_every_epoch(tmp_path, steps, interval):
    settings = run_settings(["task=squad", "data=files", f"paths.outputs={tmp_path}"])
    files, history = RunFiles.of(settings), MetricsHistory(tmp_path / "x.csv")
    trainer = new_trainer(settings, files, SealedCheckpoints({}, ()), history, None, steps)
    assert trainer.val_check_interval == interval
    assert trainer.check_val_every_n_epoch == (None if interval == 1200 else 1)
