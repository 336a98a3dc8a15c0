"""Callbacks of pretraining: the time budget, held-out perplexity, and the loss curve."""

import time
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
import torch.distributed
from pytorch_lightning import Callback, LightningModule, Trainer

from elmo_bench.bilm.perplexity import STREAMS, stream_nll, to_perplexity, total_nll
from elmo_bench.bilm.vocabulary import Vocabulary
from elmo_bench.pretraining.module import BilmTraining
from elmo_bench.pretraining.sentence_store import SentenceStore
from elmo_bench.records.atomic import write_text

LOSSES = "losses.csv"  # of the training loss, in a pretraining's folder of outputs
_LONGEST_STEP = 300.0  # seconds

Perplexities = dict[str, dict[str, float]]  # part of the held-out text -> direction -> perplexity


class TimeBudget(Callback):
    """Sets the module's progress, in steps or in time, and stops training when time is up.

    Args:
        minutes: How long the training may take, resumed parts included, or None for no limit. The
            schedule follows whichever is further, the time or the steps, so it always completes.
    """

    def __init__(self, minutes: float | int | None) -> None:
        self.budget = None if minutes is None else 60 * minutes
        self.seconds = 0.0  # spent in training, resumed parts included
        self._since = time.monotonic()

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._since = time.monotonic()

    def on_train_batch_start(
        self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, BilmTraining)
        self._tick()
        pl_module.progress = trainer.global_step / trainer.max_steps
        if self.budget is not None:
            spent = float(trainer.strategy.broadcast(self.seconds)) / self.budget
            pl_module.progress = max(pl_module.progress, min(1.0, spent))
            trainer.should_stop = trainer.should_stop or spent >= 1

    def state_dict(self) -> dict[str, Any]:
        self._tick()
        return {"seconds": self.seconds}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.seconds = state_dict["seconds"]

    def _tick(self) -> None:
        now = time.monotonic()
        # Between two steps is at most one measurement; in a longer gap the process was suspended.
        self.seconds += min(now - self._since, _LONGEST_STEP)
        self._since = now


class HeldOutPerplexity(Callback):
    """Measures perplexity with the full softmax, at intervals and at the end.

    At the end, `stateful` has it as bilm-tf's test measures it, for parts that are large enough.

    Args:
        parts: Held-out sentences by the name of their part.
        every: Optimizer steps between two measurements.
        at_start: Measure before the first step too.
    """

    def __init__(
        self,
        parts: Mapping[str, SentenceStore],
        vocabulary: Vocabulary,
        every: int,
        at_start: bool,
    ) -> None:
        self.parts, self.vocabulary = parts, vocabulary
        self.every, self.at_start = every, at_start
        self.history: list[dict[str, Any]] = []
        self.stateful: Perplexities = {}

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if self.at_start and trainer.global_step == 0:
            self._measure(trainer, pl_module)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        measured = self.history[-1]["step"] if self.history else 0
        step, left = trainer.global_step, trainer.max_steps - trainer.global_step
        # The last measurement is made at the end of the training.
        if step % self.every == 0 and step > measured and left > self.every // 2:
            self._measure(trainer, pl_module)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not self.history or self.history[-1]["step"] < trainer.global_step:
            self._measure(trainer, pl_module)
        if trainer.is_global_zero:  # one order of sentences, which ranks cannot share
            assert isinstance(pl_module, BilmTraining)
            model = pl_module.bilm, pl_module.softmax, self.vocabulary
            self.stateful = {
                name: to_perplexity(stream_nll(*model, (store[n] for n in range(len(store)))))
                for name, store in self.parts.items()
                if len(store) >= STREAMS
            }

    def state_dict(self) -> dict[str, Any]:
        return {"history": self.history}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.history = state_dict["history"]

    def _measure(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert isinstance(pl_module, BilmTraining)
        perplexities: Perplexities = {}
        for name, store in self.parts.items():
            own = (store[n] for n in range(trainer.global_rank, len(store), trainer.world_size))
            totals = total_nll(pl_module.bilm, pl_module.softmax, self.vocabulary, own)
            if trainer.world_size > 1:
                totals = totals.to(pl_module.device)
                torch.distributed.all_reduce(totals)
            perplexities[name] = to_perplexity(totals.cpu())
        self.history.append({"step": trainer.global_step, "perplexity": perplexities})
        if trainer.is_global_zero:
            means = (f"{name} {values['mean']:.1f}" for name, values in perplexities.items())
            report = f"step {trainer.global_step}: held-out perplexity {', '.join(means)}"
            trainer.print(report, flush=True)
            for logger in trainer.loggers:
                flat = {
                    f"dev/{name}/{direction}": value
                    for name, values in perplexities.items()
                    for direction, value in values.items()
                }
                logger.log_metrics(flat, trainer.global_step)


class LossCurve(Callback):
    """Writes the mean training loss to a CSV file; a resumed training continues the same curve."""

    def __init__(self, path: Path, every: int) -> None:
        self.path, self.every = path, every

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.is_global_zero:
            rows = self.path.read_text().splitlines()[1:] if self.path.exists() else []
            # Steps after the last checkpoint are repeated.
            kept = [row for row in rows if _is_before(row, trainer.global_step)]
            write_text(self.path, "\n".join(["step,loss,lr", *kept]) + "\n")

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, BilmTraining)
        if trainer.global_step % self.every or (batch_idx + 1) % trainer.accumulate_grad_batches:
            return
        losses, rate = pl_module.take_losses(), trainer.optimizers[0].param_groups[0]["lr"]
        loss = sum(losses) / len(losses)
        if trainer.is_global_zero:
            with open(self.path, "a") as file:
                file.write(f"{trainer.global_step},{loss!r},{rate!r}\n")
            for logger in trainer.loggers:
                logger.log_metrics({"train/loss": loss, "train/lr": rate}, trainer.global_step)


def read_losses(path: Path, most: int = 200) -> list[tuple[int, float]]:
    """The curve that `LossCurve` wrote as at most `most` points: last step, mean loss up to it."""
    rows = [row.split(",") for row in path.read_text().splitlines()[1:]]
    parts = [part for part in np.array_split(np.arange(len(rows)), most) if len(part)]
    return [
        (int(rows[part[-1]][0]), round(fmean(float(rows[n][1]) for n in part), 4)) for part in parts
    ]


def _is_before(row: str, step: int) -> bool:
    """Whether a row of the curve is complete and not after a step."""
    number, *values = row.split(",")
    return len(values) == 2 and number.isdigit() and int(number) <= step
