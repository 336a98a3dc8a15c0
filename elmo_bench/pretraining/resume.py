"""The checkpoint from which a killed pretraining resumes."""

import os
import time
from pathlib import Path
from typing import Any

import torch
from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.callbacks import Checkpoint

from elmo_bench.errors import UserError
from elmo_bench.losses import DivergedError
from elmo_bench.records.reading import reading

RESUME = "resume.ckpt"  # in the scratch folder of a pretraining


class ResumeCheckpoint(Checkpoint):
    """Writes one file from which a killed training resumes.

    The file is replaced only by a complete new one whose weights are finite. It is written between
    two optimizer steps, so no accumulated gradient is lost.

    Args:
        identity: What the training computes; a different training cannot resume from this file.
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
        """Write the file; the previous one is kept until the new one is on disk."""
        for name, parameter in pl_module.named_parameters():
            if not torch.isfinite(parameter).all():
                raise DivergedError(f"{name} is not finite after step {trainer.global_step}.")
        new = self.path.with_name(f"{self.path.name}.new")
        trainer.save_checkpoint(new)
        if trainer.is_global_zero:
            with open(new, "rb") as file:
                os.fsync(file.fileno())
            os.replace(new, self.path)
        self._saved_at = time.monotonic()


def find_checkpoint(path: Path, identity: dict[str, Any], force: bool) -> Path | None:
    """The file to resume from, if there is one; it must belong to this same training.

    With `force`, the file of another training is ignored, and overwritten later.
    """
    if not path.exists():
        return None
    with reading(path):
        stored = torch.load(path, map_location="cpu", weights_only=True, mmap=True)["identity"]
    other = first_difference(stored, identity)
    if other and not force:
        raise UserError(
            f"{path} belongs to an unfinished training on other text or with other settings "
            f"({other}). Give this one another name=..., or discard the unfinished one with "
            "force=true."
        )
    return None if other else path


def first_difference(stored: Any, wanted: Any, path: str = "") -> str:
    """The first key at which two settings differ, with both values; empty if there is none."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        for key in wanted:
            below = f"{path}.{key}" if path else key
            found = first_difference(stored.get(key), wanted[key], below)
            if found:
                return found
        return ""
    return "" if stored == wanted else f"{path} was {stored} and is {wanted}"
