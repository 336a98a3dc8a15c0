"""The Lightning module of every task: mixes frozen layers, runs the task's model, scores."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pytorch_lightning import LightningModule
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from elmo_bench.data.example import Example
from elmo_bench.devices import random_state, set_random_state
from elmo_bench.errors import UserError
from elmo_bench.features.mix import ElmoMix
from elmo_bench.task import Batch, Output
from elmo_bench.training.losses import READ_EVERY, DivergedError, UnreadLosses

Score = Callable[[Sequence[Example], Sequence[Any]], dict[str, float]]
NewScheduler = Callable[..., LRScheduler | ReduceLROnPlateau]


class TaskModule(LightningModule):
    """A task's model with one ELMo mix per placement.

    The biLM is not in here: batches contain its layers, so a checkpoint holds only what is trained.

    Args:
        model: The task's network, called as `model(batch, elmo) -> Output`.
        mixes: One mix for each placement of ELMo vectors in the model, by name.
        score: Scores the predictions of a whole split.
        metric: The score that selects the checkpoint.
        new_optimizer: Makes the optimizer of the given parameters.
        sum_over_batch: Minimize the sum of the examples' losses instead of their mean, which makes
            clipping stronger and the penalty on layer weights weaker.
        new_scheduler: Makes its schedule; None keeps the rate. ReduceLROnPlateau steps on the
            dev score after every epoch, any other after every optimizer step.
    """

    def __init__(
        self,
        model: nn.Module,
        mixes: Mapping[str, ElmoMix],
        score: Score,
        metric: str,
        new_optimizer: Callable[[Iterable[nn.Parameter]], Optimizer],
        new_scheduler: NewScheduler | None = None,
        sum_over_batch: bool = False,
    ) -> None:
        super().__init__()
        self.model = model
        self.mixes = nn.ModuleDict(mixes)
        self.score = score
        self.metric = metric
        self.new_optimizer = new_optimizer
        self.new_scheduler = new_scheduler
        self.sum_over_batch = sum_over_batch
        self.losses = UnreadLosses()
        self.examples: list[Example] = []  # of the split being read, with their predictions
        self.predictions: list[Any] = []

    def forward(self, batch: Batch) -> Output:
        elmo = {}
        if self.mixes:
            assert batch.layers is not None
            elmo = {name: mix(batch.layers, batch.mask) for name, mix in self.mixes.items()}
        output: Output = self.model(batch, elmo)
        return output

    def configure_optimizers(self) -> Any:
        optimizer = self.new_optimizer(p for p in self.parameters() if p.requires_grad)
        if self.new_scheduler is None:
            return optimizer
        scheduler = self.new_scheduler(optimizer)
        watches = isinstance(scheduler, ReduceLROnPlateau)
        schedule = {"scheduler": scheduler, "interval": "epoch" if watches else "step"}
        if watches:
            schedule["monitor"] = f"dev/{self.metric}"
        return {"optimizer": optimizer, "lr_scheduler": schedule}

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        loss = self(batch).loss
        self.losses.add(self.global_step, loss)
        if len(self.losses) >= READ_EVERY:
            self._check_losses()
        self.log("train/loss", loss, batch_size=len(batch), on_step=False, on_epoch=True)
        if self.sum_over_batch:
            loss = loss * len(batch)
        penalties = [mix.penalty() for mix in self.mixes.values()]  # type: ignore[operator]
        return loss + sum(penalties) if penalties else loss

    def on_train_epoch_end(self) -> None:
        self._check_losses()

    def on_validation_epoch_start(self) -> None:
        self._check_losses()
        self._start()

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        self._predict(batch, "dev")

    def on_validation_epoch_end(self) -> None:
        self._finish("dev")

    def on_test_epoch_start(self) -> None:
        self._start()

    def test_step(self, batch: Batch, batch_idx: int) -> None:
        self._predict(batch, "test")

    def on_test_epoch_end(self) -> None:
        self._finish("test")

    def layer_weights(self) -> dict[str, dict[str, Any]]:
        """The learned weights and gamma of each placement."""
        return {name: mix.summary() for name, mix in self.mixes.items()}  # type: ignore[operator]

    def predictions_by_id(self) -> dict[str, Any]:
        """The predictions of the split that was read last."""
        return {e.id: value for e, value in zip(self.examples, self.predictions, strict=True)}

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["predictions"] = self.predictions_by_id()  # of its dev pass
        # Lightning saves no random state, but dropout must continue as if never interrupted.
        checkpoint["random_state"] = random_state(self.device)

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        # The model is moved to its device only after this.
        set_random_state(checkpoint["random_state"], self.trainer.strategy.root_device)

    def _check_losses(self) -> None:
        try:
            self.losses.read()
        except DivergedError as error:
            raise UserError(
                f"{error} Lower task.training.optimizer.lr or set task.training.gradient_clip_val"
            ) from error

    def _start(self) -> None:
        self.examples, self.predictions = [], []

    def _predict(self, batch: Batch, split: str) -> None:
        output = self(batch)
        self.log(f"{split}/loss", output.loss, batch_size=len(batch))
        self.examples += batch.examples
        self.predictions += output.predictions

    def _finish(self, split: str) -> None:
        for name, value in self.score(self.examples, self.predictions).items():
            self.log(f"{split}/{name}", value, prog_bar=name == self.metric)
        if split == "dev":
            for placement, learned in self.layer_weights().items():
                for layer, weight in enumerate(learned["weights"]):
                    self.log(f"elmo/{placement}/layer{layer}", weight)
                self.log(f"elmo/{placement}/gamma", learned["gamma"])
