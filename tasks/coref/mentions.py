"""Scoring the spans of a document and keeping those worth comparing with others."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from elmo_bench.devices import to_device
from elmo_bench.tasks.coref.pairs import Mlp
from elmo_bench.tasks.coref.spans import candidates, following_words, head_attention, prune


class Mentions(NamedTuple):
    """The spans that were kept, in text order."""

    starts: Int[Tensor, " span"]
    ends: Int[Tensor, " span"]  # last words, inclusive
    vectors: Float[Tensor, "span dim"]
    scores: Float[Tensor, " span"]


class MentionFinder(nn.Module):
    """[state of first word; of last word; attention over input vectors; width] -> score -> best.

    The first layer of the scorer is computed per word rather than per span, which is equivalent
    and takes a tenth of the work: only the spans that are kept get a vector.

    Args:
        state_dim: Size of the encoder's states.
        input_dim: Size of the word vectors that the attention sums.
        max_width: Maximum number of words in a span.
        spans_per_word: How many spans are kept for each word of the document.
        feature_dim: Size of the width embedding.
        hidden_dim: Size of the scorer's hidden layers.
        dropout: On width embeddings and hidden layers.
    """

    def __init__(
        self,
        state_dim: int,
        input_dim: int,
        max_width: int,
        spans_per_word: float,
        feature_dim: int,
        hidden_dim: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.max_width, self.spans_per_word = max_width, spans_per_word
        self.head = nn.Linear(state_dim, 1, bias=False)
        self.width = nn.Embedding(max_width, feature_dim)
        nn.init.xavier_uniform_(self.head.weight)
        nn.init.xavier_uniform_(self.width.weight)
        self.dropout = nn.Dropout(dropout)
        self.parts = [state_dim, state_dim, input_dim, feature_dim]
        self.dim = sum(self.parts)
        self.mlp = Mlp(self.dim, hidden_dim, dropout)

    def forward(
        self,
        states: Float[Tensor, "word dim"],
        inputs: Float[Tensor, "word in"],
        sentences: Int[Tensor, " word"],
    ) -> Mentions:
        starts, following = candidates(sentences, self.max_width)
        ends = starts + following
        attention = head_attention(self.head(states).squeeze(1), self.max_width)
        widths = self.dropout(self.width(following))
        from_start, from_end, from_head, from_width = self.mlp.first.weight.split(self.parts, dim=1)
        heads = attention @ following_words(inputs @ from_head.t(), self.max_width)
        hidden = (states @ from_start.t() + self.mlp.first.bias)[starts]
        hidden = hidden + (states @ from_end.t())[ends] + heads[starts, following]
        scores = self.mlp.rest(hidden + widths @ from_width.t())

        count = max(1, int(self.spans_per_word * len(states)))
        best = prune(starts.tolist(), ends.tolist(), scores.detach(), count)
        kept = to_device(torch.tensor(best), states.device)
        starts, ends, following = starts[kept], ends[kept], following[kept]
        words = following_words(inputs, self.max_width)[starts]  # (span, offset, in)
        head = torch.einsum("so,soi->si", attention[starts, following], words)
        vectors = torch.cat([states[starts], states[ends], head, widths[kept]], dim=1)
        return Mentions(starts, ends, vectors, scores[kept])
