"""The Lightning module of pretraining: two streams, the loss, the optimizer and its schedule."""

from collections.abc import Sequence
from math import cos, pi
from typing import Any

import numpy as np
import torch
import torch.distributed
from jaxtyping import Bool
from pytorch_lightning import LightningModule
from torch import Tensor
from torch.nn.functional import dropout, embedding
from torch.optim import Adagrad, Adam, Optimizer

from elmo_bench.bilm.lstm import State, run_stacks
from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.softmax import SampledSoftmax, Softmax
from elmo_bench.bilm.softmax_rows import SoftmaxRows
from elmo_bench.config.pretraining_settings import PretrainingSettings, ScheduleSettings
from elmo_bench.pretraining.loader import StreamBatch
from elmo_bench.training.losses import UnreadLosses

_INITIAL_SUM = 1.0  # of squares in Adagrad, as in TensorFlow


class BilmTraining(LightningModule):
    """Trains a biLM and its softmax on two streams; LSTM states carry over between batches.

    Dropout and negative samples are determined by seed, batch and rank, so a resumed training
    needs no state of a random generator.

    Args:
        bilm: The model.
        softmax: Predicts the next and the previous word.
        recipe: Optimizer, schedule, scale of the loss and seed.
    """

    def __init__(
        self,
        bilm: BiLm,
        softmax: Softmax,
        recipe: PretrainingSettings,
    ) -> None:
        super().__init__()
        self.bilm, self.softmax = bilm, softmax
        self.recipe = recipe
        self.loss_scale = float(recipe.unroll_steps) if recipe.sum_over_steps else 1.0
        self.rows = self._new_rows()
        self.states: list[State] | None = None  # forward and backward, of this rank's rows
        self.losses = UnreadLosses()
        self.read_losses: list[float] = []  # but not yet taken
        self.last_loss: float | None = None  # mean of those taken last, for display
        self.progress = 0.0  # fraction of the training that is done, from 0 to 1

    def configure_optimizers(self) -> Optimizer:
        optimizer = self.recipe.optimizer
        parameters = [p for p in self.parameters() if p.requires_grad]
        match optimizer.kind:
            case "adagrad":
                # As in TensorFlow, without an epsilon.
                return Adagrad(
                    parameters, optimizer.lr, initial_accumulator_value=_INITIAL_SUM, eps=0.0
                )
            case "adam":
                # Lightning cannot clip gradients that the optimizer itself scales back.
                fused = self.recipe.precision == "32-true"
                return Adam(parameters, optimizer.lr, betas=(0.9, optimizer.beta2), fused=fused)

    def training_step(self, batch: StreamBatch, batch_idx: int) -> Tensor:
        torch.manual_seed(self._seed(batch_idx, self.global_rank))
        vectors = self.bilm.encoder(batch.words)
        stacks = (self.bilm.forward_lstm, self.bilm.backward_lstm)
        previous = self._previous_states(batch.reset)
        # Packed rows: all of the first step, then all of the second, ...
        inputs = embedding(batch.inputs.transpose(1, 2).flatten(1), vectors)
        num_rows, num_steps = batch.inputs.shape[1:]
        results = run_stacks(stacks, list(inputs), [num_rows] * num_steps, previous)
        self.states = [(hidden.detach(), cell.detach()) for _, (hidden, cell) in results]
        tops = torch.stack([layers[-1] for layers, _ in results])
        top = dropout(tops, stacks[0].dropout, self.training)
        tokens = top, batch.targets.transpose(1, 2).flatten(1), self._seed(batch_idx, 0)
        if self.rows is None:
            loss = self.softmax.loss(*tokens).mean()
        else:
            assert isinstance(self.softmax, SampledSoftmax)
            loss = self.softmax.loss(*tokens, self.rows).mean()
        self.losses.add(self.trainer.global_step + 1, loss)
        return loss * self.loss_scale

    def optimizer_step(self, epoch: int, batch_idx: int, optimizer: Any, *rest: Any) -> None:
        super().optimizer_step(epoch, batch_idx, optimizer, *rest)
        if self.rows is not None:
            self.rows.write_back(self._table(), optimizer)

    def on_before_optimizer_step(self, optimizer: Optimizer) -> None:
        if self.rows is not None:
            assert isinstance(optimizer, Adagrad)
            self.rows.load_sums(optimizer)
        factor = schedule_factor(self.recipe.schedule, self.progress, self.trainer.global_step)
        for group in optimizer.param_groups:
            group["lr"] = self.recipe.optimizer.lr * factor

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        # Every rank calls this; the states of all ranks go into the one file that rank 0 writes.
        states = self.states or []
        checkpoint["lstm_states"] = [
            tuple(self._gather(tensor) for tensor in state) for state in states
        ]
        self._read_losses()
        checkpoint["losses"] = self.read_losses

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        world, rank = self.trainer.world_size, self.trainer.global_rank
        self.states = [
            tuple(tensor.chunk(world, dim=1)[rank].clone() for tensor in state)
            for state in checkpoint["lstm_states"]
        ] or None
        self.read_losses = checkpoint["losses"]

    def on_train_start(self) -> None:
        # Lightning loads a checkpoint before it moves the model to its device.
        if self.states is not None:
            self.states = [(h.to(self.device), c.to(self.device)) for h, c in self.states]

    def on_train_epoch_end(self) -> None:
        self._read_losses()  # raises if the training has diverged since they were read last

    def on_fit_end(self) -> None:
        self.rows = None  # its sums are as large as the softmax, and writing that needs a copy

    def take_losses(self) -> list[float]:
        """The losses of all batches since the last call; every rank must call this."""
        self._read_losses()
        losses, self.read_losses = self.read_losses, []
        self.last_loss = sum(losses) / max(1, len(losses))
        return losses

    def _previous_states(self, reset: Bool[Tensor, " row"]) -> Sequence[State]:
        """The final states of the last batch in both directions; zeros for rows that are reset."""
        if self.states is None:
            stacks = (self.bilm.forward_lstm, self.bilm.backward_lstm)
            return [stack.new_state(len(reset)) for stack in stacks]
        ended = reset[None, :, None]  # states are (layer, row, dim)
        return [
            (hidden.masked_fill(ended, 0.0), cell.masked_fill(ended, 0.0))
            for hidden, cell in self.states
        ]

    def _seed(self, batch_idx: int, rank: int) -> int:
        mixed = np.random.SeedSequence([self.recipe.seed, batch_idx, rank]).generate_state(1)
        return int(mixed[0])

    def _new_rows(self) -> SoftmaxRows | None:
        """Let Adagrad train only the rows of a sampled softmax that a step asks for.

        Adam moves every row at every step, so with Adam the whole table is trained.
        """
        recipe = self.recipe
        if not isinstance(self.softmax, SampledSoftmax) or recipe.optimizer.kind != "adagrad":
            return None
        weight, bias = self._table()
        words = self.softmax.num_negatives + recipe.batch_size * recipe.unroll_steps
        size = 2 * words * recipe.accumulate_grad_batches
        weight.requires_grad_(False)
        bias.requires_grad_(False)
        num_words, dim = weight.shape
        return SoftmaxRows(num_words, dim, size, _INITIAL_SUM)

    def _table(self) -> tuple[Tensor, Tensor]:
        assert isinstance(self.softmax, SampledSoftmax)
        return self.softmax.weight, self.softmax.bias

    def _read_losses(self) -> None:
        self.read_losses = self.read_losses + self.losses.read()

    def _gather(self, tensor: Tensor) -> Tensor:
        if self.trainer.world_size == 1:
            return tensor.cpu()
        parts = [torch.empty_like(tensor) for _ in range(self.trainer.world_size)]
        torch.distributed.all_gather(parts, tensor.contiguous())
        return torch.cat(parts, dim=1).cpu()


def schedule_factor(schedule: ScheduleSettings, progress: float, step: int) -> float:
    """Factor of the learning rate: linear warm-up, then constant or half a cosine down to zero."""
    warmup = min(1.0, (step + 1) / schedule.warmup_steps) if schedule.warmup_steps else 1.0
    match schedule.kind:
        case "constant":
            return warmup
        case "cosine":
            return warmup * (1 + cos(pi * min(1.0, progress))) / 2
