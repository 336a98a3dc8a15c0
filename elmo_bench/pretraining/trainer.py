"""The Lightning trainer of a pretraining, with its callbacks and logger."""

from pathlib import Path
from typing import Any

from pytorch_lightning import Callback, Trainer
from pytorch_lightning.utilities.rank_zero import rank_zero_only

from elmo_bench.config.errors import ConfigError
from elmo_bench.config.pretraining_settings import PretrainSettings
from elmo_bench.loggers import Logged, build_logger
from elmo_bench.pretraining.callbacks import LOSSES, LossCurve
from elmo_bench.pretraining.progress import PretrainingProgress
from elmo_bench.pretraining.resume import RESUME, ResumeCheckpoint
from elmo_bench.records.digest import digest
from elmo_bench.training.checkpoints import SealedCheckpoints


def new_trainer(
    settings: PretrainSettings,
    identity: dict[str, Any],
    num_steps: int,
    scratch: Path,
    callbacks: list[Callback],
) -> Trainer:
    """The trainer of a pretraining.

    Args:
        settings: Of the pretraining.
        identity: What it computes, for the checkpoint and the logger.
        num_steps: Optimizer steps in all.
        scratch: Folder of the loss curve, the resume file and logs.
        callbacks: More callbacks, called first.
    """
    how, recipe = settings.trainer, settings.pretraining
    callbacks = [
        *callbacks,
        LossCurve(scratch / LOSSES, how.log_every_n_steps),
        ResumeCheckpoint(scratch / RESUME, how.checkpoint_steps, how.checkpoint_minutes),
    ]
    if how.progress_bar:
        tokens = recipe.batch_size * recipe.unroll_steps
        callbacks.append(PretrainingProgress(tokens, sampled=recipe.loss.kind == "sampled"))
    logger = None
    if getattr(rank_zero_only, "rank", 0) == 0:
        name = scratch.name
        run = Logged(f"{name}-{digest(identity)}", name, "pretraining", "pretraining", identity)
        logger = build_logger(settings.logger, scratch, run)
    trainer = Trainer(
        accelerator=how.accelerator,
        devices=how.devices,
        num_nodes=how.num_nodes,
        strategy=how.strategy,
        precision=recipe.precision,
        max_epochs=1,  # of Lightning; the loader counts the epochs of the corpus
        max_steps=num_steps,
        accumulate_grad_batches=recipe.accumulate_grad_batches,
        gradient_clip_val=recipe.gradient_clip_val,
        callbacks=callbacks,
        plugins=SealedCheckpoints(identity, keep=(RESUME,)),
        logger=logger or False,
        enable_progress_bar=how.progress_bar,
        enable_model_summary=False,
        default_root_dir=scratch,
    )
    if recipe.precision != "32-true" and trainer.strategy.root_device.type == "cpu":
        raise ConfigError(
            f"pretraining.precision={recipe.precision} needs a GPU; set 32-true for the CPU."
        )
    return trainer
