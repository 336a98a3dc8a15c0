"""A linear classifier of parts of speech on one frozen layer (the paper's Table 6)."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from elmo_bench.analysis.static import lookup
from elmo_bench.analysis.stream import shown, stream_layers, write_vectors
from elmo_bench.analysis.tagged import Tagged
from elmo_bench.data.vectors import Vector
from elmo_bench.features.encoder import Encoder

BLOCK_ROWS = 16_384  # in float32 at a time

Rows = Float[np.ndarray, "_row dim"]


class PosScores(NamedTuple):
    """Percent of correct tags: over all words, and over words not seen in training."""

    accuracy: float
    unseen: float


@dataclass(frozen=True)
class Training:
    """Training settings of the classifier: full-batch L-BFGS, stopped early by dev accuracy.

    On layers with correlated features, Adam was still five points behind after 50 epochs.
    """

    penalty: float = 1e-5  # L2, on the weights
    iterations: int = 20  # between two dev evaluations
    max_rounds: int = 12
    patience: int = 2  # rounds without a better dev accuracy


def gather(bilm: Encoder, sentences: Sequence[Tagged], path: Path) -> np.ndarray:
    """Write the layers of every word to disk and return them, (layer, row, dim) in float16."""
    shape = (bilm.num_layers, sum(len(s.words) for s in sentences), bilm.output_dim)
    stacks = stream_layers(bilm, shown(sentences), lambda sentence: sentence.words)
    return write_vectors(path, shape, (stack for _, stack in stacks))


def static_rows(sentences: Sequence[Tagged], vectors: dict[str, Vector]) -> Rows:
    """Return the static vector of every word; unknown words are zero."""
    unknown = np.zeros(len(next(iter(vectors.values()))), np.float32)
    found = (lookup(vectors, word) for sentence in sentences for word in sentence.words)
    return np.stack([unknown if vector is None else vector for vector in found])


class Tags:
    """The tag and word vocabularies of a training split."""

    def __init__(self, train: Sequence[Tagged]) -> None:
        self.names = sorted({tag for sentence in train for tag in sentence.tags})
        self.number = {tag: number for number, tag in enumerate(self.names)}
        self.words = {word for sentence in train for word in sentence.words}

    def numbers(self, sentences: Sequence[Tagged]) -> Int64[Tensor, " row"]:
        """Return the tag of every word; a tag unseen in training is -1, which no answer equals."""
        tags = (tag for sentence in sentences for tag in sentence.tags)
        return torch.tensor([self.number.get(tag, -1) for tag in tags])

    def unseen(self, sentences: Sequence[Tagged]) -> Bool[Tensor, " row"]:
        """Return which words are unseen in training."""
        words = (word for sentence in sentences for word in sentence.words)
        return torch.tensor([word not in self.words for word in words])

    def score(self, sentences: Sequence[Tagged], answers: Int64[Tensor, " row"]) -> PosScores:
        """Score answers against the gold tags."""
        right = (answers == self.numbers(sentences)).double()
        unseen = right[self.unseen(sentences)]
        return PosScores(
            100 * right.mean().item(), 100 * unseen.mean().item() if len(unseen) else 0.0
        )


def frequent_tags(train: Sequence[Tagged], test: Sequence[Tagged], tags: Tags) -> PosScores:
    """Score the baseline: each word's most frequent tag, or the overall one for unseen words."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in train:
        for word, tag in zip(*sentence, strict=True):
            counts[word][tag] += 1
    usual = {word: counter.most_common(1)[0][0] for word, counter in counts.items()}
    [(most, _)] = sum(counts.values(), Counter()).most_common(1)
    answers = [tags.number[usual.get(word, most)] for s in test for word in s.words]
    return tags.score(test, torch.tensor(answers))


def probe_pos(
    tags: Tags,
    splits: dict[str, Sequence[Tagged]],
    rows: dict[str, np.ndarray],
    training: Training,
) -> PosScores:
    """Train a probe on train, stop it by dev accuracy, and score it on test."""
    data = {split: torch.from_numpy(np.array(rows[split])) for split in rows}
    train, dev = tags.numbers(splits["train"]), tags.numbers(splits["dev"])
    probe = Probe(data["train"], len(tags.names))
    optimizer = torch.optim.LBFGS(
        probe.parameters(), max_iter=training.iterations, line_search_fn="strong_wolfe"
    )

    def loss_with_gradients() -> float:
        optimizer.zero_grad()
        return probe.accumulate(data["train"], train, training.penalty)

    best, kept, waited = -1.0, probe.linear.state_dict(), 0
    for _ in range(training.max_rounds):
        optimizer.step(loss_with_gradients)
        accuracy = (probe.answers(data["dev"]) == dev).double().mean().item()
        waited += 1
        if accuracy > best:
            best, waited = accuracy, 0
            kept = {name: value.clone() for name, value in probe.linear.state_dict().items()}
        if waited >= training.patience:
            break
    probe.linear.load_state_dict(kept)
    return tags.score(splits["test"], probe.answers(data["test"]))


class Probe(nn.Module):
    """A linear layer on vectors standardized to mean 0 and variance 1, which speeds up training."""

    mean: Tensor
    scale: Tensor

    def __init__(self, rows: Float[Tensor, "row dim"], num_tags: int) -> None:
        super().__init__()
        sums = torch.zeros(2, rows.shape[1], dtype=torch.float64)
        for block in rows.split(BLOCK_ROWS):
            values = block.double()
            sums += torch.stack([values.sum(dim=0), values.square().sum(dim=0)])
        mean, square = sums / len(rows)
        self.register_buffer("mean", mean.float())
        self.register_buffer("scale", (square - mean.square()).clamp(min=1e-8).rsqrt().float())
        self.linear = nn.Linear(rows.shape[1], num_tags)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, rows: Float[Tensor, "row dim"]) -> Float[Tensor, "row tag"]:
        return self.linear((rows.float() - self.mean) * self.scale)

    def accumulate(
        self, rows: Float[Tensor, "row dim"], target: Int64[Tensor, " row"], penalty: float
    ) -> float:
        """Return the mean loss; gradients accumulate block by block to bound memory."""
        loss = penalty * self.linear.weight.square().sum()
        loss.backward()
        total = loss.item()
        for block, tags in zip(rows.split(BLOCK_ROWS), target.split(BLOCK_ROWS), strict=True):
            loss = nn.functional.cross_entropy(self(block), tags, reduction="sum") / len(rows)
            loss.backward()
            total += loss.item()
        return total

    @torch.no_grad()
    def answers(self, rows: Float[Tensor, "row dim"]) -> Int64[Tensor, " row"]:
        """Return the best tag of each row."""
        return torch.cat([self(block).argmax(dim=1) for block in rows.split(BLOCK_ROWS)])
