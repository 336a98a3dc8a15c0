"""The adaptive softmax (Grave et al. 2017)."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import sqrt

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from elmo_bench.errors import UserError
from elmo_bench.kernels.dense import Linear, cross_entropy


class AdaptiveSoftmax(nn.Module):
    """Scores frequent words directly and rarer ones in clusters of smaller dimension.

    It is an exact distribution over the vocabulary: the probability of a rare word is that of its
    cluster times that of the word within the cluster.

    Args:
        cutoffs: Where the clusters start in the vocabulary, which is sorted by descending count.
        div_value: Each cluster's dimension is the previous one divided by this.
    """

    def __init__(self, dim: int, num_words: int, cutoffs: Sequence[int], div_value: int) -> None:
        super().__init__()
        edges = [*cutoffs, num_words]
        if sorted(set(edges)) != edges or edges[0] <= 0:
            raise UserError(
                f"pretraining.loss.cutoffs={list(cutoffs)} must be ascending and below the "
                f"vocabulary size of {num_words}; for a small vocabulary set "
                f"pretraining.loss.kind=full."
            )
        dims = [max(1, dim // div_value**number) for number in range(1, len(edges))]
        sizes = [end - start for start, end in pairwise(edges)]
        self._build(dim, edges[0], dims, sizes)

    def _build(self, dim: int, head: int, dims: list[int], sizes: list[int]) -> None:
        self.edges = [head + sum(sizes[:number]) for number in range(len(sizes) + 1)]
        self.head = nn.Linear(dim, head + len(sizes))
        self.down = nn.ModuleList(Linear(dim, small, bias=False) for small in dims)
        self.tails: list[nn.Linear] = nn.ModuleList(  # type: ignore[assignment]
            nn.Linear(small, size) for small, size in zip(dims, sizes, strict=True)
        )
        for layer in (self.head, *self.down, *self.tails):
            nn.init.normal_(layer.weight, std=1 / sqrt(layer.in_features))
        for layer in (self.head, *self.tails):
            nn.init.zeros_(layer.bias)

    @classmethod
    def like(cls, tensors: Mapping[str, Tensor]) -> "AdaptiveSoftmax":
        """Build an untrained softmax with the shapes of stored tensors."""
        tails = [
            tensors[f"tails.{number}.weight"].shape
            for number in range(sum(key.startswith("down.") for key in tensors))
        ]
        new = cls.__new__(cls)
        nn.Module.__init__(new)
        words, dim = tensors["head.weight"].shape
        new._build(dim, words - len(tails), [d for _, d in tails], [size for size, _ in tails])
        return new

    @property
    def num_words(self) -> int:
        """Size of the vocabulary."""
        return self.edges[-1]

    def loss(
        self,
        hidden: Float[Tensor, "direction token dim"],
        targets: Int[Tensor, "direction token"],
        seed: int,
    ) -> Float[Tensor, " direction"]:
        """Mean loss of each direction."""
        return self.nll(hidden.flatten(0, 1), targets.flatten()).view(targets.shape).mean(dim=1)

    def nll(
        self, hidden: Float[Tensor, "token dim"], targets: Int[Tensor, " token"]
    ) -> Float[Tensor, " token"]:
        """Negative log-likelihood of each target."""
        clusters = torch.bucketize(targets, targets.new_tensor(self.edges[:-1]), right=True)
        # The head scores the frequent words and then, for the rare ones, their clusters.
        in_head = torch.where(clusters == 0, targets, self.edges[0] + clusters - 1)
        losses = cross_entropy(hidden, self.head.weight, self.head.bias, in_head)
        for number, (down, tail) in enumerate(zip(self.down, self.tails, strict=True)):
            # Computed even for a cluster without rows: its gradients are then zeros rather than
            # missing, as distributed training requires of every process.
            rows = (clusters == number + 1).nonzero().squeeze(1)
            within = targets[rows] - self.edges[number]
            loss = cross_entropy(down(hidden[rows]), tail.weight, tail.bias, within)
            losses = losses.index_add(0, rows, loss)
        return losses

    def log_probs(self, hidden: Float[Tensor, "token dim"]) -> Float[Tensor, "token word"]:
        """Log-probability of every word."""
        head = log_softmax(self.head(hidden), dim=1)
        parts = [head[:, : self.edges[0]]]
        for number, (down, tail) in enumerate(zip(self.down, self.tails, strict=True)):
            cluster = head[:, self.edges[0] + number, None]
            parts.append(cluster + log_softmax(tail(down(hidden)), dim=1))
        return torch.cat(parts, dim=1)
