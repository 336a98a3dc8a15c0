"""The schedule of Chen et al. (2017): back to the best weights, at half the rate."""

from pathlib import Path
from typing import Any

import torch
from pytorch_lightning import Callback, LightningModule, Trainer


class HalveAndRestore(Callback):
    """After a worse dev score, halves the rate and restores the best weights.

    The optimizer keeps its moments, as in their code. A score as good as the best one is no reason
    to halve; the weights that are restored are those of the first.

    Args:
        monitor: The dev score, by its name in the log.
        best: The checkpoint of the best dev pass so far.
        max_halvings: When another one would follow, the training ends instead.
    """

    def __init__(self, monitor: str, best: Path, max_halvings: int) -> None:
        self.monitor, self.best, self.max_halvings = monitor, best, max_halvings
        self.best_score = float("-inf")
        self.halvings = 0

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        score = float(trainer.callback_metrics[self.monitor])
        if score >= self.best_score:
            self.best_score = score
        elif self.halvings == self.max_halvings:
            trainer.should_stop = True
        else:
            self.halvings += 1
            checkpoint = torch.load(self.best, map_location=pl_module.device, weights_only=True)
            pl_module.load_state_dict(checkpoint["state_dict"])
            for optimizer in trainer.optimizers:
                for group in optimizer.param_groups:
                    group["lr"] /= 2

    def state_dict(self) -> dict[str, Any]:
        return {"best_score": self.best_score, "halvings": self.halvings}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.best_score, self.halvings = state_dict["best_score"], state_dict["halvings"]
