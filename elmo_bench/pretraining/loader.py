"""Batches of both directions for Lightning, each rank with its share of the rows."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int
from pytorch_lightning import LightningDataModule
from torch import Tensor

from elmo_bench.bilm.token_encoders import TokenEncoder
from elmo_bench.bilm.vocabulary import Vocabulary
from elmo_bench.config.pretraining_settings import PretrainingSettings
from elmo_bench.errors import UserError
from elmo_bench.pretraining.sentence_store import PreparedCorpus, SentenceStore
from elmo_bench.pretraining.streams import Stream
from elmo_bench.training.prefetch import Prefetched, prefetched


class StreamBatch(NamedTuple):
    """The next `unroll_steps` tokens of every row in both directions, forward first.

    Each distinct word is spelled once; `inputs` points into `words`. A row with `reset` starts a
    new sentence from a state of zeros, as the biLM reads every sentence after training.
    """

    words: Int[Tensor, "word char"]
    inputs: Int[Tensor, "direction row time"]
    targets: Int[Tensor, "direction row time"]
    reset: Bool[Tensor, " row"]


class StreamLoader:
    """Batches of both streams; Lightning can save and restore its position.

    Args:
        batch_size: Rows of all ranks together.
        rows: The rows that this rank trains on.
        unroll_steps: Tokens of each row in a batch.
        num_batches: Batches of the whole training.
        state_reset_prob: Probability that a row starts a new sentence from zeros in a batch.
    """

    def __init__(
        self,
        store: SentenceStore,
        vocabulary: Vocabulary,
        encoder: TokenEncoder,
        *,
        batch_size: int,
        rows: range,
        unroll_steps: int,
        num_batches: int,
        seed: int,
        state_reset_prob: float,
    ) -> None:
        self._batch_size, self._rows, self._seed = batch_size, rows, seed
        self._state_reset_prob = state_reset_prob
        self._streams = [
            Stream(store, batch_size, rows, (seed, direction), reverse=bool(direction))
            for direction in (0, 1)
        ]
        self._vocabulary, self._encoder = vocabulary, encoder
        self._shape = (2, len(rows), unroll_steps)
        self._num_batches, self._given = num_batches, 0

    def __len__(self) -> int:
        return self._num_batches

    def __iter__(self) -> Iterator[StreamBatch]:
        while self._given < self._num_batches:
            batch = self._next()
            self._given += 1
            yield batch

    def state_dict(self) -> dict[str, Any]:
        """The position after the last batch."""
        return {"given": self._given, "streams": [stream.state() for stream in self._streams]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume after the batch at which the state was saved."""
        self._given = state["given"]
        for stream, position in zip(self._streams, state["streams"], strict=True):
            stream.restore(position)

    def _next(self) -> StreamBatch:
        rows: dict[str, int] = {}
        inputs: list[int] = []
        targets: list[int] = []
        reset = self._rows_to_reset()
        for stream in self._streams:
            words, following = stream.read(self._shape[2], np.flatnonzero(reset).tolist())
            inputs += [rows.setdefault(word, len(rows)) for word in words]
            targets += self._vocabulary.ids(following)
        return StreamBatch(
            self._encoder.ids(list(rows)),
            torch.tensor(inputs).view(self._shape),
            torch.tensor(targets).view(self._shape),
            torch.from_numpy(reset[self._rows.start : self._rows.stop]),
        )

    def _rows_to_reset(self) -> np.ndarray:
        """Which of all rows start a new sentence; the same on every rank and after a resume."""
        draw = np.random.default_rng([self._seed, self._given]).random(self._batch_size)
        return draw < self._state_reset_prob


class StreamData(LightningDataModule):
    """Loads the training text; each rank gets its share of the rows."""

    def __init__(
        self,
        text: PreparedCorpus,
        vocabulary: Vocabulary,
        encoder: TokenEncoder,
        recipe: PretrainingSettings,
        num_batches: int,
    ) -> None:
        super().__init__()
        self.text, self.vocabulary, self.encoder = text, vocabulary, encoder
        self.recipe, self.num_batches = recipe, num_batches

    def train_dataloader(self) -> StreamLoader | Prefetched:
        assert self.trainer is not None
        batch_size, world = self.recipe.batch_size, self.trainer.world_size
        if batch_size % world:
            raise UserError(
                f"pretraining.batch_size={batch_size} cannot be divided among {world} processes."
            )
        share, rank = batch_size // world, self.trainer.global_rank
        loader = StreamLoader(
            self.text.train,
            self.vocabulary,
            self.encoder,
            batch_size=batch_size,
            rows=range(rank * share, (rank + 1) * share),
            unroll_steps=self.recipe.unroll_steps,
            num_batches=self.num_batches,
            seed=self.recipe.seed,
            state_reset_prob=self.recipe.state_reset_prob,
        )
        batches: StreamLoader | Prefetched = prefetched(loader, self.trainer.strategy.root_device)
        return batches
