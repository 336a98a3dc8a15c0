"""Progress of a training where there is no terminal for a bar: a line per epoch."""

import logging
from datetime import timedelta

from pytorch_lightning import Callback, LightningModule, Trainer

from elmo_bench.runs.history import MetricsHistory

log = logging.getLogger(__name__)


class EpochLines(Callback):
    """Logs each epoch: loss, dev score, the best so far, time, and how long it can still take.

    Args:
        history: The dev passes so far.
        metric: The score that selects the checkpoint.
    """

    def __init__(self, history: MetricsHistory, metric: str) -> None:
        self.history, self.metric = history, metric
        self.before = 0.0  # seconds of training at the end of the last epoch

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.before = self.history.seconds

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not self.history.rows:
            return
        row, key = self.history.rows[-1], f"dev/{self.metric}"
        best = max(self.history.rows, key=lambda one: float(one[key]))
        seconds, total = self.history.seconds, trainer.max_epochs or 0
        took, self.before = seconds - self.before, seconds
        epoch = trainer.current_epoch + 1
        left = timedelta(seconds=round(seconds / epoch * (total - epoch)))
        loss = f"loss {row['train/loss']:.4f}, " if "train/loss" in row else ""
        log.info(
            "epoch %*d/%d: %sdev %s %.2f, best %.2f (epoch %d), %.1f s, at most %s left",
            *(len(str(total)), epoch, total, loss, self.metric, row[key], best[key]),
            *(best["epoch"], took, left),
        )
