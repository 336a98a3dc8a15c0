"""Batches of any task: examples of similar length, with their frozen layers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import torch
from jaxtyping import Float
from pytorch_lightning import LightningDataModule
from torch import Tensor
from torch.utils.data import DataLoader, Sampler

from elmo_bench.data.example import Example, Segment, Split, distinct_segments
from elmo_bench.task import Batch, collate
from elmo_bench.training.prefetch import Prefetched, prefetched

Batches = DataLoader[Batch] | Prefetched
Layers = Mapping[Split, Callable[[list[Segment]], Float[Tensor, "layer segment time dim"]]]


class LengthBatches(Sampler[list[int]]):
    """Batches of examples whose segments have similar lengths, so that there is little padding.

    Args:
        lengths: Tokens of each example's segments.
        batch_size: Largest number of examples in a batch.
        max_padded_tokens: Largest number of padded tokens in a batch; a longer example forms a
            batch alone.
        generator: Shuffles examples of similar length and the order of batches; None keeps the
            order by length, as for evaluation.
    """

    def __init__(
        self,
        lengths: Sequence[Sequence[int]],
        batch_size: int,
        max_padded_tokens: int | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        self.lengths = lengths
        self.batch_size = batch_size
        self.max_padded_tokens = max_padded_tokens
        self.batches = list(self._cut(self._order(generator)))
        if generator is not None:
            order = torch.randperm(len(self.batches), generator=generator).tolist()
            self.batches = [self.batches[index] for index in order]

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)

    def _order(self, generator: torch.Generator | None) -> list[int]:
        """By the length of the first segment, then of the others; in training with some noise."""
        first = torch.tensor([float(sizes[0]) for sizes in self.lengths])
        others = torch.tensor([float(sum(sizes[1:])) for sizes in self.lengths])
        if generator is not None:
            first *= 1 + 0.05 * torch.rand(first.shape, generator=generator)
            others += torch.rand(others.shape, generator=generator)
        first = first.round()
        # Sort the others up and down in turn, so that they do not jump where the first changes.
        others *= 1 - 2 * (first % 2)
        keys = list(zip(first.tolist(), others.tolist(), strict=True))
        return sorted(range(len(keys)), key=keys.__getitem__)

    def _cut(self, order: list[int]) -> Iterator[list[int]]:
        batch: list[int] = []
        longest = segments = 0
        for index in order:
            sizes = self.lengths[index]
            longest, segments = max(longest, *sizes), segments + len(sizes)
            full = len(batch) == self.batch_size
            if self.max_padded_tokens is not None:
                full = full or longest * segments > self.max_padded_tokens
            if full and batch:
                yield batch
                batch, longest, segments = [], max(sizes), len(sizes)
            batch.append(index)
        if batch:
            yield batch


class TaskData(LightningDataModule):
    """The splits of a task as batches.

    Args:
        splits: Examples of train, dev and test; train may be missing if the model is not trained.
        layers: Returns the padded frozen layers of a split's segments; None in the baseline.
        batch_size: Largest number of examples in a batch.
        max_padded_tokens: Largest number of padded tokens in a batch.
        seed: Determines the order of the training examples, together with the epoch.
    """

    def __init__(
        self,
        splits: dict[Split, list[Example]],
        layers: Layers | None,
        batch_size: int,
        max_padded_tokens: int | None,
        seed: int,
    ) -> None:
        super().__init__()
        self.splits = splits
        self.layers = layers
        self.batch_size = batch_size
        self.max_padded_tokens = max_padded_tokens
        self.seed = seed

    def steps_per_epoch(self) -> int:
        """Training batches of the first epoch; later ones may have a few more or fewer."""
        return len(self.train_dataloader())

    def train_dataloader(self) -> Batches:
        # Made again for every epoch (a Trainer setting), so a resumed run sees the same order.
        epoch = self.trainer.current_epoch if self.trainer is not None else 0
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        return self._loader("train", generator)

    def val_dataloader(self) -> Batches:
        return self._loader("dev", None)

    def test_dataloader(self) -> Batches:
        return self._loader("test", None)

    def _loader(self, split: Split, generator: torch.Generator | None) -> Batches:
        examples = self.splits[split]
        lengths = [[len(segment) for segment in example.segments] for example in examples]
        sampler = LengthBatches(lengths, self.batch_size, self.max_padded_tokens, generator)
        loader: DataLoader[Batch] = DataLoader(
            examples,  # type: ignore[arg-type]
            batch_sampler=sampler,
            collate_fn=partial(self.collate, split),
        )
        if self.trainer is None:
            return loader
        batches: Batches = prefetched(loader, self.trainer.strategy.root_device)
        return batches

    def collate(self, split: Split, examples: list[Example]) -> Batch:
        """A batch of a split with its layers."""
        if self.layers is None:
            return collate(examples)
        return collate(examples, self.layers[split](distinct_segments(examples)))
