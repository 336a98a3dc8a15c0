"""Progress display of pretraining: tokens per second, perplexity and time left."""

import sys
import time
from datetime import timedelta
from math import exp
from typing import Any

from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.callbacks import ProgressBar
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from elmo_bench.pretraining.module import BilmTraining

_SMOOTHING = 0.98


class PretrainingProgress(ProgressBar):
    """A progress bar on a terminal; a line at intervals if the output is not a terminal.

    The perplexity shown is that of the training text, smoothed. With the sampled softmax it would
    be meaningless, so the loss is shown instead.

    Args:
        tokens: Tokens of one batch on all ranks, each counted once for both directions.
        sampled: Whether the loss is the sampled softmax's.
        line_every: Seconds between two lines.
    """

    def __init__(self, tokens: int, sampled: bool, line_every: float = 30.0) -> None:
        super().__init__()
        self._tokens, self._sampled, self._line_every = tokens, sampled, line_every
        self._enabled = True
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._loss: float | None = None
        self._began = self._shown = time.monotonic()
        self._done_before, self._progress_before = 0, 0.0

    def disable(self) -> None:
        self._enabled = False

    def enable(self) -> None:
        self._enabled = True

    def print(self, *args: Any, **kwargs: Any) -> None:
        if self._bar is not None:
            self._bar.console.print(*args)
        elif self._enabled:
            print(*args, flush=True)

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert isinstance(pl_module, BilmTraining)
        self._began = self._shown = time.monotonic()
        self._done_before = trainer.global_step
        self._progress_before = trainer.global_step / trainer.max_steps
        console = Console()
        if self._enabled and console.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[text]}"),
            )
            self._bar = Progress(*columns, console=console, refresh_per_second=2)
            self._task = self._bar.add_task("Pretraining", total=1.0, text="")
            self._bar.start()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, BilmTraining)
        loss = pl_module.last_loss
        if loss is not None:
            self._loss = (
                loss if self._loss is None else self._loss + (1 - _SMOOTHING) * (loss - self._loss)
            )
        if not self._enabled:
            return
        now = time.monotonic()
        if self._bar is not None:
            self._bar.update(
                self._task, completed=pl_module.progress, text=self._text(trainer, pl_module)
            )
        elif now - self._shown >= self._line_every:
            self._shown = now
            print(self._text(trainer, pl_module), flush=True)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._stop()

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        sys.stdout.flush()

    def _text(self, trainer: Trainer, pl_module: BilmTraining) -> str:
        seconds = max(1e-9, time.monotonic() - self._began)
        batches = (trainer.global_step - self._done_before) * trainer.accumulate_grad_batches
        gained = pl_module.progress - self._progress_before
        left = seconds * (1 - pl_module.progress) / gained if gained > 0 else 0.0
        loss = self._loss or 0.0
        quality = f"loss {loss:.3f}" if self._sampled else f"perplexity {exp(min(loss, 50)):.1f}"
        return (
            f"step {trainer.global_step:,}/{trainer.max_steps:,}  "
            f"{batches * self._tokens / seconds:,.0f} tokens/s  {quality}  "
            f"{timedelta(seconds=round(left))} left"
        )
