"""Scores of span pairs: a span and an earlier one that it may refer to."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from elmo_bench.kernels.compiled import fits, load_kernel
from elmo_bench.kernels.dense import Linear, linear
from elmo_bench.kernels.elementwise import dropout
from elmo_bench.kernels.pairs import PairProducts

NUM_BUCKETS = 10
PAIRS_AT_ONCE = 30_000  # computed together: bounds the memory, does not change results


class Pairs(NamedTuple):
    """Pairs of spans with earlier spans, by number; the pairs of one span are consecutive."""

    spans: Int[Tensor, " pair"]
    antecedents: Int[Tensor, " pair"]


def pairs_of(first: int, last: int, most: int, device: torch.device) -> Pairs:
    """The pairs of spans `first` to `last` (exclusive) with at most `most` before each."""
    numbers = torch.arange(first, last, device=device)
    counts = numbers.clamp(max=most)
    spans = numbers.repeat_interleave(counts)
    begins = (counts.cumsum(0) - counts).repeat_interleave(counts)
    within = torch.arange(len(spans), device=device) - begins
    return Pairs(spans, spans - counts.repeat_interleave(counts) + within)


def portions(num_spans: int, most: int) -> Iterator[tuple[int, int]]:
    """Split spans into ranges with few enough pairs to score at once."""
    step = max(1, PAIRS_AT_ONCE // max(1, most))
    for first in range(0, num_spans, step):
        yield first, min(first + step, num_spans)


def bucket(distance: Int[Tensor, " pair"]) -> Int[Tensor, " pair"]:
    """0, 1, 2, 3, 4, 5-7, 8-15, 16-31, 32-63, 64 and more."""
    exponent = distance.clamp(min=1).float().log2().floor().long()
    return torch.where(distance <= 4, distance, exponent + 3).clamp(max=NUM_BUCKETS - 1)


class PairLayer(Function):
    """own[i] + antecedent_weight @ spans[j] + product_weight @ (spans[i] * spans[j]) of all pairs.

    i are the spans `first` to `last` (exclusive), j at most `most` before each. No tensor of the
    size (pair, dim) is ever stored: for one span i, this is a product of its antecedents with
    antecedent_weight + product_weight * spans[i].
    """

    @staticmethod
    def forward(
        ctx: Any,
        own: Tensor,
        spans: Tensor,
        antecedent_weight: Tensor,
        product_weight: Tensor,
        first: int,
        last: int,
        most: int,
    ) -> Tensor:
        counts = [min(number, most) for number in range(first, last)]
        outputs = spans.new_empty(sum(counts), own.shape[1])
        rows = zip(range(first, last), counts, outputs.split(counts), strict=True)
        for number, count, output in rows:
            weight = torch.addcmul(antecedent_weight, product_weight, spans[number])
            torch.addmm(own[number], spans[number - count : number], weight.t(), out=output)
        ctx.save_for_backward(spans, antecedent_weight, product_weight)
        ctx.settings = first, last, counts
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        spans, antecedent_weight, product_weight = ctx.saved_tensors
        first, last, counts = ctx.settings
        d_own = spans.new_zeros(len(spans), gradient.shape[1])
        d_spans = torch.zeros_like(spans)
        d_antecedent, d_product = map(torch.zeros_like, (antecedent_weight, product_weight))
        rows = zip(range(first, last), counts, gradient.split(counts), strict=True)
        for number, count, d_output in rows:
            before = slice(number - count, number)
            weight = torch.addcmul(antecedent_weight, product_weight, spans[number])
            d_spans[before].addmm_(d_output, weight)
            d_weight = d_output.t() @ spans[before]
            d_antecedent += d_weight
            d_product.addcmul_(d_weight, spans[number])
            d_spans[number] += (d_weight * product_weight).sum(dim=0)
            d_own[number] = d_output.sum(dim=0)
        return d_own, d_spans, d_antecedent, d_product, None, None, None


def pair_layer(
    own: Float[Tensor, "span hidden"],
    spans: Float[Tensor, "span dim"],
    antecedent_weight: Float[Tensor, "hidden dim"],
    product_weight: Float[Tensor, "hidden dim"],
    pairs: Pairs,
    portion: tuple[int, int, int],
) -> Float[Tensor, "pair hidden"]:
    """What PairLayer computes; on the CPU, in compiled code."""
    kernel = load_kernel() if fits(own, spans, product_weight) else None
    outputs: Tensor
    if kernel is None:
        outputs = PairLayer.apply(own, spans, antecedent_weight, product_weight, *portion)
    else:
        by_antecedent = linear(spans, antecedent_weight)
        start = own.index_select(0, pairs.spans)
        start = start + by_antecedent.index_select(0, pairs.antecedents)
        outputs = PairProducts.apply(kernel, spans, product_weight, start, *pairs)
    return outputs


class Mlp(nn.Module):
    """Two hidden layers and a score. Callers may compute the first layer in parts.

    Args:
        input_dim: Size of the inputs.
        hidden_dim: Size of both hidden layers.
        dropout: After each of them.
    """

    def __init__(self, input_dim: int, hidden_dim: int, dropout: float) -> None:
        super().__init__()
        self.first = nn.Linear(input_dim, hidden_dim)
        self.second = Linear(hidden_dim, hidden_dim)
        self.score = nn.Linear(hidden_dim, 1)
        self.dropout = dropout
        for layer in (self.first, self.second, self.score):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def rest(self, first: Float[Tensor, "item hidden"]) -> Float[Tensor, " item"]:
        """Everything after the linear map of the first layer."""
        hidden = self._relu(self.second(self._relu(first)))
        return self.score(hidden).squeeze(1)

    def _relu(self, values: Float[Tensor, "item hidden"]) -> Float[Tensor, "item hidden"]:
        return dropout(values, self.dropout, relu=True) if self.training else values.relu()


class PairScorer(nn.Module):
    """[span; antecedent; span * antecedent; same speaker; genre; distance] -> score.

    Args:
        span_dim: Size of the spans' vectors.
        num_genres: Number of genres, including the unknown one.
        feature_dim: Size of the embedding of each of the three features.
        hidden_dim: Size of the hidden layers.
        max_antecedents: Maximum number of earlier spans that a span is compared with.
        dropout: On features and hidden layers.
    """

    def __init__(
        self,
        span_dim: int,
        num_genres: int,
        feature_dim: int,
        hidden_dim: int,
        max_antecedents: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.parts = [span_dim, span_dim, span_dim, 3 * feature_dim]
        self.max_antecedents = max_antecedents
        self.speaker = nn.Embedding(2, feature_dim)
        self.genre = nn.Embedding(num_genres, feature_dim)
        self.distance = nn.Embedding(NUM_BUCKETS, feature_dim)
        for table in (self.speaker, self.genre, self.distance):
            nn.init.xavier_uniform_(table.weight)
        self.dropout = dropout
        self.mlp = Mlp(sum(self.parts), hidden_dim, dropout)

    def forward(
        self,
        spans: Float[Tensor, "span dim"],
        mention_scores: Float[Tensor, " span"],
        speakers: Int[Tensor, " span"],
        genre: int,
    ) -> Float[Tensor, "span distance"]:
        """Scores by distance to the antecedent; distance 0 means none, with score 0.

        Distances that reach before the first span have a score of minus infinity.
        """
        most = min(self.max_antecedents, len(spans) - 1)
        scores = spans.new_full((len(spans), most + 1), float("-inf"))
        scores[:, 0] = 0
        as_span, as_antecedent, as_product, as_features = self.mlp.first.weight.split(
            self.parts, dim=1
        )
        # Autocast would give a lower precision than that of the other parts of the layer.
        own = linear(spans, as_span, self.mlp.first.bias).to(spans.dtype)
        found, indices = [], []
        for first, last in portions(len(spans), most):
            pairs = pairs_of(first, last, most, spans.device)
            distance = pairs.spans - pairs.antecedents
            portion = first, last, most
            hidden = pair_layer(own, spans, as_antecedent, as_product, pairs, portion)
            features = self._features(pairs, distance, speakers, genre)
            hidden = hidden + linear(features, as_features)
            of_mentions = mention_scores[pairs.spans] + mention_scores[pairs.antecedents]
            found.append(self.mlp.rest(hidden) + of_mentions)
            indices.append(torch.stack([pairs.spans, distance]))
        rows, columns = torch.cat(indices, dim=1)
        return scores.index_put((rows, columns), torch.cat(found))

    def _features(
        self, pairs: Pairs, distance: Tensor, speakers: Tensor, genre: int
    ) -> Float[Tensor, "pair dim"]:
        same_speaker = (speakers[pairs.spans] == speakers[pairs.antecedents]).long()
        of_genre = self.genre.weight[genre].expand(len(distance), -1)
        parts = [self.speaker(same_speaker), of_genre, self.distance(bucket(distance))]
        features = torch.cat(parts, dim=1)
        return dropout(features, self.dropout) if self.training else features
