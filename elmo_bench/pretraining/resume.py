"""The file from which a killed pretraining goes on."""

import os
import time
from pathlib import Path
from typing import Any

import torch
from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.callbacks import Checkpoint

from elmo_bench.pretraining.module import DivergedError


class ResumeCheckpoint(Checkpoint):
    """Writes one file from which a killed training goes on.

    The file is replaced only by a complete new one whose weights are finite. Between two steps, so
    no gradient that was accumulated is lost.

    Args:
        identity: What the training computes; another one cannot go on from this file.
        every_steps: Optimizer steps between two checkpoints, or None.
        every_minutes: Minutes between two checkpoints, or None.
    """

    def __init__(
        self,
        path: Path,
        identity: dict[str, Any],
        every_steps: int | None,
        every_minutes: float | int | None,
    ) -> None:
        self.path, self.identity = path, identity
        self.every_steps, self.every_minutes = every_steps, every_minutes
        self._saved_at = time.monotonic()

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._saved_at = time.monotonic()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if (batch_idx + 1) % trainer.accumulate_grad_batches:
            return
        minutes = (time.monotonic() - self._saved_at) / 60
        due = self.every_minutes is not None and minutes >= self.every_minutes
        if self.every_steps is not None and trainer.global_step % self.every_steps == 0:
            due = True
        if trainer.strategy.reduce_boolean_decision(due, all=False):
            self.save(trainer, pl_module)

    def on_save_checkpoint(
        self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        checkpoint["identity"] = self.identity

    def save(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Write the file; the one before stays until the new one is on the disk."""
        for name, parameter in pl_module.named_parameters():
            if not torch.isfinite(parameter).all():
                raise DivergedError(f"{name} is not finite after step {trainer.global_step}.")
        fresh = self.path.with_name(f"{self.path.name}.new")
        trainer.save_checkpoint(fresh)
        if trainer.is_global_zero:
            with open(fresh, "rb") as file:
                os.fsync(file.fileno())
            os.replace(fresh, self.path)
        self._saved_at = time.monotonic()


def find_checkpoint(path: Path, identity: dict[str, Any], force: bool) -> Path | None:
    """The file to go on from, if there is one, which must be of this very training.

    With `force`, the file of another training is left to be overwritten.
    """
    if not path.exists():
        return None
    stored = torch.load(path, map_location="cpu", weights_only=True, mmap=True)["identity"]
    other = first_difference(stored, identity)
    if other and not force:
        raise ValueError(
            f"{path} is of an unfinished training with other settings ({other}). Give this one "
            "another name=..., or discard the unfinished one with force=true."
        )
    return None if other else path


def first_difference(stored: Any, wanted: Any, place: str = "") -> str:
    """The first place where two settings differ, with both values; empty if there is none."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        for key in wanted:
            below = f"{place}.{key}" if place else key
            found = first_difference(stored.get(key), wanted[key], below)
            if found:
                return found
        return ""
    return "" if stored == wanted else f"{place} was {stored} and is {wanted}"
