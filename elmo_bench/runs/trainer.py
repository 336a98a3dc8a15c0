"""The Lightning trainer of a run: early stopping, the best and the last checkpoint, EMA."""

import logging
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from pytorch_lightning import Callback, Trainer, seed_everything
from pytorch_lightning.callbacks import EarlyStopping, EMAWeightAveraging, ModelCheckpoint

from elmo_bench.config.errors import ConfigError
from elmo_bench.config.settings import RunSettings
from elmo_bench.devices import resolve_device, set_matmul_precision
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.halving import HalveAndRestore
from elmo_bench.runs.history import MetricsHistory
from elmo_bench.training.checkpoints import SealedCheckpoints
from elmo_bench.training.memory import keep_freed_memory


def new_trainer(
    settings: RunSettings,
    files: RunFiles,
    checkpoints: SealedCheckpoints,
    history: MetricsHistory,
    logger: Any,
    steps_per_epoch: int,
    more: Sequence[Callback] = (),
) -> Trainer:
    """The trainer of a run; callbacks see each dev pass after the history has recorded it.

    Dev passes that are counted in steps go on across epochs, but there is one in every epoch.
    """
    training, monitor = settings.task.training, f"dev/{settings.task.metric}"
    by_steps = training.eval_every is not None and training.eval_every < steps_per_epoch
    callbacks: list[Callback] = [
        history,  # before the checkpoints, which keep its state
        *more,
        EarlyStopping(monitor, patience=training.patience, mode="max"),
        ModelCheckpoint(
            files.checkpoints,
            files.best.stem,
            monitor=monitor,
            mode="max",
            enable_version_counter=False,
        ),
        # After the whole epoch, so that a resumed run starts at the next one.
        ModelCheckpoint(
            files.checkpoints,
            files.last.stem,
            save_on_train_epoch_end=True,
            enable_version_counter=False,
        ),
    ]
    if training.max_halvings is not None:
        callbacks.append(HalveAndRestore(monitor, files.best, training.max_halvings))
    if training.ema is not None:
        device = resolve_device(settings.trainer.accelerator)  # the averages are there too
        callbacks.insert(0, EMAWeightAveraging(device, decay=training.ema))
    return Trainer(
        accelerator=settings.trainer.accelerator,
        devices=1,
        precision=training.precision,
        max_epochs=training.max_epochs,
        gradient_clip_val=training.gradient_clip_val,
        gradient_clip_algorithm=training.gradient_clip_algorithm,
        val_check_interval=training.eval_every if by_steps else None,
        check_val_every_n_epoch=None if by_steps else 1,
        reload_dataloaders_every_n_epochs=1,  # the order of examples depends on the epoch
        num_sanity_val_steps=0,
        callbacks=callbacks,
        plugins=checkpoints,
        logger=logger or False,
        enable_progress_bar=settings.trainer.progress_bar,
        enable_model_summary=False,
        log_every_n_steps=10,
    )


def set_up_process(settings: RunSettings) -> None:
    """Set memory, threads, precision and seed, and quiet Lightning.

    What the device cannot do is refused.
    """
    keep_freed_memory()
    how, precision = settings.trainer, settings.task.training.precision
    device = resolve_device(how.accelerator)
    if precision != "32-true" and device.type == "cpu" and how.accelerator != "tpu":
        raise ConfigError(
            f"task.training.precision={precision} needs a GPU; set 32-true for the CPU."
        )
    if how.threads is not None:
        torch.set_num_threads(how.threads)
    set_matmul_precision(how.matmul_precision, device)
    seed_everything(settings.seed, verbose=False)
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", module="pytorch_lightning")
