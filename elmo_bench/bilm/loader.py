"""Batches of both directions for Lightning, each rank with its share of the lanes."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int
from pytorch_lightning import LightningDataModule
from torch import Tensor

from elmo_bench.bilm.encoders import TokenEncoder
from elmo_bench.bilm.store import PreparedCorpus, SentenceStore
from elmo_bench.bilm.streams import Stream
from elmo_bench.bilm.vocabulary import Vocabulary


class StreamBatch(NamedTuple):
    """The next steps of every lane in both directions, forward first.

    Each distinct word is spelled once; `inputs` points into `words`. Lanes that are `fresh` begin
    a sentence and are to be read from a state of zeros, as every sentence is after training.
    """

    words: Int[Tensor, "word char"]
    inputs: Int[Tensor, "direction lane time"]
    targets: Int[Tensor, "direction lane time"]
    fresh: Bool[Tensor, " lane"]


class StreamLoader:
    """Batches of both streams, which Lightning can save and resume in the middle.

    Args:
        lanes: Number of lanes of all ranks together.
        own: The lanes that this rank trains on.
        steps: Tokens of each lane in a batch.
        num_batches: Batches in the whole of a training.
        fresh: Share of the lanes that begin afresh in each batch.
    """

    def __init__(
        self,
        store: SentenceStore,
        vocabulary: Vocabulary,
        encoder: TokenEncoder,
        *,
        lanes: int,
        own: range,
        steps: int,
        num_batches: int,
        seed: int,
        fresh: float,
    ) -> None:
        if not 0 <= fresh <= 1:
            raise ValueError(f"pretraining.fresh={fresh}: a share of the lanes, from 0 to 1.")
        self._lanes, self._own, self._seed, self._fresh = lanes, own, seed, fresh
        self._streams = [
            Stream(store, lanes, own, (seed, direction), reverse=bool(direction))
            for direction in (0, 1)
        ]
        self._vocabulary, self._encoder = vocabulary, encoder
        self._shape = (2, len(own), steps)
        self._num_batches, self._given = num_batches, 0

    def __len__(self) -> int:
        return self._num_batches

    def __iter__(self) -> Iterator[StreamBatch]:
        while self._given < self._num_batches:
            batch = self._next()
            self._given += 1
            yield batch

    def state_dict(self) -> dict[str, Any]:
        """The position after the last batch given."""
        return {"given": self._given, "streams": [stream.state() for stream in self._streams]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on after the last batch that was given when the state was taken."""
        self._given = state["given"]
        for stream, position in zip(self._streams, state["streams"], strict=True):
            stream.restore(position)

    def _next(self) -> StreamBatch:
        rows: dict[str, int] = {}
        inputs: list[int] = []
        targets: list[int] = []
        fresh = self._fresh_lanes()
        for stream in self._streams:
            words, following = stream.read(self._shape[2], np.flatnonzero(fresh).tolist())
            inputs += [rows.setdefault(word, len(rows)) for word in words]
            targets += self._vocabulary.ids(following)
        return StreamBatch(
            self._encoder.ids(list(rows)),
            torch.tensor(inputs).view(self._shape),
            torch.tensor(targets).view(self._shape),
            torch.from_numpy(fresh[self._own.start : self._own.stop]),
        )

    def _fresh_lanes(self) -> np.ndarray:
        """Which of all lanes begin afresh; the same on every rank, and in a resumed training."""
        draw = np.random.default_rng([self._seed, self._given]).random(self._lanes)
        return draw < self._fresh


class StreamData(LightningDataModule):
    """Gives each rank its share of the lanes."""

    def __init__(
        self,
        text: PreparedCorpus,
        vocabulary: Vocabulary,
        encoder: TokenEncoder,
        recipe: Mapping[str, Any],
        num_batches: int,
    ) -> None:
        super().__init__()
        self.text, self.vocabulary, self.encoder = text, vocabulary, encoder
        self.recipe, self.num_batches = recipe, num_batches

    def train_dataloader(self) -> StreamLoader:
        assert self.trainer is not None
        lanes, world = self.recipe["lanes"], self.trainer.world_size
        if lanes % world:
            raise ValueError(f"pretraining.lanes={lanes} cannot be shared by {world} processes.")
        share, rank = lanes // world, self.trainer.global_rank
        return StreamLoader(
            self.text.train,
            self.vocabulary,
            self.encoder,
            lanes=lanes,
            own=range(rank * share, (rank + 1) * share),
            steps=self.recipe["steps"],
            num_batches=self.num_batches,
            seed=self.recipe["seed"],
            fresh=self.recipe["fresh"],
        )
