"""The checkpoint from which a killed pretraining resumes."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.callbacks import Checkpoint

from elmo_bench.errors import UserError
from elmo_bench.records.checksums import DamagedError
from elmo_bench.training.checkpoints import find_checkpoint, previous, read_checkpoint
from elmo_bench.training.losses import DivergedError

RESUME = "resume.ckpt"  # in the scratch folder of a pretraining


class ResumeCheckpoint(Checkpoint):
    """Writes one file from which a killed training resumes.

    The file is replaced only by a new one whose weights are finite. It is written between two
    optimizer steps, so no accumulated gradient is lost.

    Args:
        path: The file.
        every_steps: Optimizer steps between two checkpoints, or None.
        every_minutes: Minutes between two checkpoints, or None.
    """

    def __init__(
        self,
        path: Path,
        every_steps: int | None,
        every_minutes: float | int | None,
    ) -> None:
        self.path = path
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

    def save(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Write the file; the one before is kept too."""
        for name, parameter in pl_module.named_parameters():
            # By the extremes: isfinite of all values would take as much memory again.
            if not torch.stack(parameter.aminmax()).isfinite().all():
                raise DivergedError(f"{name} is not finite after step {trainer.global_step}.")
        trainer.save_checkpoint(self.path)
        self._saved_at = time.monotonic()


def resumable(path: Path, identity: dict[str, Any], force: bool) -> Path | None:
    """The file to resume from, if there is one; it must belong to this same training.

    With `force`, the file of another training is ignored, and overwritten later.
    """
    found, other = find_checkpoint(path, identity)
    if other and not force:
        raise UserError(
            f"{found} belongs to an unfinished training on other text or with other settings "
            f"({other}). Give this one another name=..., or discard the unfinished one with "
            "force=true."
        )
    return None if other else found


def remove_resume_files(path: Path) -> None:
    """Remove what a finished training does not need any more."""
    for file in (path, previous(path)):
        file.unlink(missing_ok=True)


def outlook(path: Path) -> str:
    """What the same command will do after an interruption, in words."""
    for file in (path, previous(path)):
        if file.exists():
            with suppress(DamagedError):
                return (
                    f"the same command resumes after step {read_checkpoint(file)['global_step']:,}"
                )
    return "nothing was saved yet, so the same command starts from the beginning"
