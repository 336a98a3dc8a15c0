"""Scores of pairs: a span and one of the spans before it that it may refer to."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

NUM_BUCKETS = 10
PAIRS_AT_ONCE = 30_000  # what is computed together; it bounds the memory, and changes no result


class Pairs(NamedTuple):
    """All pairs of some spans with the spans before them, by number; a span's are in a row."""

    spans: Int[Tensor, " pair"]
    antecedents: Int[Tensor, " pair"]


def pairs_of(first: int, last: int, most: int, device: torch.device) -> Pairs:
    """The pairs of spans `first` to `last` (left out) with at most so many before each."""
    numbers = torch.arange(first, last, device=device)
    counts = numbers.clamp(max=most)
    spans = numbers.repeat_interleave(counts)
    begins = (counts.cumsum(0) - counts).repeat_interleave(counts)
    within = torch.arange(len(spans), device=device) - begins
    return Pairs(spans, spans - counts.repeat_interleave(counts) + within)


def portions(num_spans: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut spans into runs with few enough pairs to be scored at once."""
    step = max(1, PAIRS_AT_ONCE // max(1, most))
    for first in range(0, num_spans, step):
        yield first, min(first + step, num_spans)


def bucket(distance: Int[Tensor, " pair"]) -> Int[Tensor, " pair"]:
    """0, 1, 2, 3, 4, 5-7, 8-15, 16-31, 32-63, 64 and more."""
    exponent = distance.clamp(min=1).float().log2().floor().long()
    return torch.where(distance <= 4, distance, exponent + 3).clamp(max=NUM_BUCKETS - 1)


class PairProducts(Function):
    """weight @ (span * antecedent) of all pairs of spans `first` to `last`.

    Nothing of the size of pairs times span features is ever held: the products of one span are a
    product of its antecedents with the weight scaled by the span.
    """

    @staticmethod
    def forward(
        ctx: Any, spans: Tensor, weight: Tensor, first: int, last: int, most: int
    ) -> Tensor:
        counts = [min(number, most) for number in range(first, last)]
        products = spans.new_empty(sum(counts), len(weight))
        rows = zip(range(first, last), counts, products.split(counts), strict=True)
        for number, count, product in rows:
            scaled = weight * spans[number]
            torch.mm(spans[number - count : number], scaled.t(), out=product)
        ctx.save_for_backward(spans, weight)
        ctx.settings = first, last, counts
        return products

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        spans, weight = ctx.saved_tensors
        first, last, counts = ctx.settings
        d_spans, d_weight = torch.zeros_like(spans), torch.zeros_like(weight)
        rows = zip(range(first, last), counts, gradient.split(counts), strict=True)
        for number, count, d_product in rows:
            before = slice(number - count, number)
            d_spans[before].addmm_(d_product, weight * spans[number])
            d_scaled = d_product.t() @ spans[before]
            d_weight.addcmul_(d_scaled, spans[number])
            d_spans[number] += (d_scaled * weight).sum(dim=0)
        return d_spans, d_weight, None, None, None


class Mlp(nn.Module):
    """Two hidden layers and a score. Its users may compute the first layer by parts.

    Args:
        input_dim: Size of the inputs.
        hidden_dim: Size of both hidden layers.
        dropout: After each of them.
    """

    def __init__(self, input_dim: int, hidden_dim: int, dropout: float) -> None:
        super().__init__()
        self.first = nn.Linear(input_dim, hidden_dim)
        self.second = nn.Linear(hidden_dim, hidden_dim)
        self.score = nn.Linear(hidden_dim, 1)
        self.dropout = nn.Dropout(dropout)
        for layer in (self.first, self.second, self.score):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def rest(self, first: Float[Tensor, "item hidden"]) -> Float[Tensor, " item"]:
        """All that comes after the product of the first layer."""
        hidden = self.dropout(first.relu())
        hidden = self.dropout(self.second(hidden).relu())
        return self.score(hidden).squeeze(1)


class PairScorer(nn.Module):
    """[span; antecedent; span * antecedent; same speaker; genre; distance] -> score.

    Args:
        span_dim: Size of the spans' vectors.
        num_genres: Genres there are, the unknown one included.
        feature_dim: Size of the vector of each of the three features.
        hidden_dim: Size of the hidden layers.
        max_antecedents: With so many spans before it a span is compared at the most.
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
        self.dropout = nn.Dropout(dropout)
        self.mlp = Mlp(sum(self.parts), hidden_dim, dropout)

    def forward(
        self,
        spans: Float[Tensor, "span dim"],
        mention_scores: Float[Tensor, " span"],
        speakers: Int[Tensor, " span"],
        genre: int,
    ) -> Float[Tensor, "span distance"]:
        """Scores by distance to the antecedent; at distance 0 it is none at all, with score 0.

        What lies before the first span has a score of minus infinity.
        """
        most = min(self.max_antecedents, len(spans) - 1)
        scores = spans.new_full((len(spans), most + 1), float("-inf"))
        scores[:, 0] = 0
        as_span, as_antecedent, as_product, as_features = self.mlp.first.weight.split(
            self.parts, dim=1
        )
        left, right = spans @ as_span.t() + self.mlp.first.bias, spans @ as_antecedent.t()
        found, places = [], []
        for first, last in portions(len(spans), most):
            pairs = pairs_of(first, last, most, spans.device)
            distance = pairs.spans - pairs.antecedents
            hidden = PairProducts.apply(spans, as_product, first, last, most)
            hidden = hidden + left[pairs.spans] + right[pairs.antecedents]
            hidden = hidden + self._features(pairs, distance, speakers, genre) @ as_features.t()
            of_mentions = mention_scores[pairs.spans] + mention_scores[pairs.antecedents]
            found.append(self.mlp.rest(hidden) + of_mentions)
            places.append(torch.stack([pairs.spans, distance]))
        rows, columns = torch.cat(places, dim=1)
        return scores.index_put((rows, columns), torch.cat(found))

    def _features(
        self, pairs: Pairs, distance: Tensor, speakers: Tensor, genre: int
    ) -> Float[Tensor, "pair dim"]:
        same_speaker = (speakers[pairs.spans] == speakers[pairs.antecedents]).long()
        of_genre = self.genre.weight[genre].expand(len(distance), -1)
        parts = [self.speaker(same_speaker), of_genre, self.distance(bucket(distance))]
        return self.dropout(torch.cat(parts, dim=1))
