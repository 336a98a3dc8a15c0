"""The training of a new softmax alone, on a frozen biLM that came without one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf, log
from statistics import fmean
from typing import Any

from pytorch_lightning import LightningModule, Trainer
from torch import Tensor

from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.vocabulary import Vocabulary
from elmo_bench.config.pretraining_settings import PretrainSettings
from elmo_bench.config.settings import CsvLogger
from elmo_bench.pretraining.callbacks import HeldOutPerplexity
from elmo_bench.pretraining.module import BilmTraining
from elmo_bench.pretraining.resume import ResumeCheckpoint
from elmo_bench.pretraining.sentence_store import SentenceStore


def softmax_alone(settings: PretrainSettings) -> PretrainSettings:
    """The settings of the training of the softmax, within those of the whole."""
    recipe = settings.pretraining
    alone = recipe.but(
        epochs=recipe.new_softmax.max_epochs,
        budget_minutes=None,
        optimizer=recipe.optimizer.but(lr=recipe.new_softmax.lr),
        schedule=recipe.schedule.but(kind="constant"),
    )
    changed: PretrainSettings = settings.but(pretraining=alone, logger=CsvLogger(name="csv"))
    return changed


@contextmanager
def frozen(bilm: BiLm) -> Iterator[None]:
    """Keep a biLM as it is, without dropout, and trainable as before afterwards."""
    # By name: on some devices a model that is moved there has other parameters afterwards.
    trainable = {name for name, parameter in bilm.named_parameters() if parameter.requires_grad}
    bilm.eval()
    bilm.requires_grad_(False)
    try:
        yield
    finally:
        for name, parameter in bilm.named_parameters():
            parameter.requires_grad_(name in trainable)
        bilm.train()


class BestSoftmax(HeldOutPerplexity):
    """Keeps the softmax with the lowest held-out loss, and stops when it no longer falls.

    The training can be resumed when it has stopped, too: it then stops at once, with the same
    softmax. So what follows it need not be repeated to be exact.

    Args:
        parts: Held-out sentences by the name of their part; parts count alike.
        every: Optimizer steps between two measurements.
        patience: Measurements without a lower loss before training stops.
    """

    def __init__(
        self,
        parts: Mapping[str, SentenceStore],
        vocabulary: Vocabulary,
        every: int,
        patience: int,
    ) -> None:
        super().__init__(parts, vocabulary, every, at_start=False)
        self.patience = patience
        self.best: dict[str, Tensor] = {}
        self.lowest, self.waited = inf, 0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        trainer.should_stop = self.waited >= self.patience

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if self.waited < self.patience and self.history[-1]["step"] < trainer.global_step:
            self._measure(trainer, pl_module)
        for callback in trainer.checkpoint_callbacks:
            if isinstance(callback, ResumeCheckpoint):
                callback.save(trainer, pl_module)

    def state_dict(self) -> dict[str, Any]:
        kept = {"best": self.best, "lowest": self.lowest, "waited": self.waited}
        return {**super().state_dict(), **kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self.best, self.lowest = state_dict["best"], state_dict["lowest"]
        self.waited = state_dict["waited"]

    def _measure(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert isinstance(pl_module, BilmTraining)
        super()._measure(trainer, pl_module)
        measured = self.history[-1]["perplexity"].values()
        loss = fmean(log(perplexity["mean"]) for perplexity in measured)
        self.waited += 1
        if loss < self.lowest or not self.best:
            self.lowest, self.waited = loss, 0
            state = pl_module.softmax.state_dict()
            self.best = {name: tensor.detach().cpu().clone() for name, tensor in state.items()}
        trainer.should_stop = trainer.should_stop or self.waited >= self.patience
