"""BiDAF with self-attention (Clark and Gardner 2018), as the paper used it on SQuAD."""

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from elmo_bench.devices import to_device
from elmo_bench.nn.birnn import BiGru
from elmo_bench.nn.char_cnn import CharCnn
from elmo_bench.nn.dropout import VariationalDropout
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Batch, Output
from elmo_bench.tasks.squad.attention import BiAttention, SelfAttention, glorot_linear


class Reader(nn.Module):
    """Finds the span of a paragraph that answers a question.

    Args:
        words: Static word vectors.
        chars: Embeds the characters of a word.
        elmo_dims: Size of the ELMo vectors at "input" and "output" of the first GRU.
        hidden_dim: Units per direction of every GRU; projections are twice as wide.
        dropout: Variational, at the input of every layer.
        max_span: Maximum number of tokens in an answer.
    """

    def __init__(
        self,
        words: WordEmbedding,
        chars: CharCnn,
        elmo_dims: Mapping[str, int],
        hidden_dim: int,
        dropout: float,
        max_span: int,
    ) -> None:
        super().__init__()
        self.words = words
        self.chars = chars
        self.dropout = VariationalDropout(dropout)
        input_dim = chars.dim + words.dim + elmo_dims.get("input", 0)
        self.encoder = _gru(input_dim, hidden_dim, dropout)
        encoded_dim = self.encoder.dim + elmo_dims.get("output", 0)
        width = 2 * hidden_dim
        self.attention = BiAttention(encoded_dim)
        self.project = nn.Sequential(glorot_linear(self.attention.dim, width), nn.ReLU())
        self.self_encoder = _gru(width, hidden_dim, dropout)
        self.self_attention = SelfAttention(width)
        self.start_encoder = _gru(
            width, hidden_dim, dropout=0.0
        )  # dropout was already applied to its input
        self.end_encoder = _gru(2 * width, hidden_dim, dropout=0.0)
        self.start = glorot_linear(width, 1)
        self.end = glorot_linear(width, 1)
        self.max_span = max_span

    def forward(self, batch: Batch, elmo: Mapping[str, Tensor]) -> Output:
        encoded = self.encode(batch, elmo)
        paragraph, paragraph_mask = _side(encoded, batch, 0)
        question, question_mask = _side(encoded, batch, 1)
        start, end = self.boundaries(paragraph, paragraph_mask, question, question_mask)
        loss = self.loss(start, end, batch)
        if self.training:
            return Output(loss, [])
        return Output(loss, best_spans(start, end, self.max_span))

    def encode(self, batch: Batch, elmo: Mapping[str, Tensor]) -> Float[Tensor, "segment time dim"]:
        """Read every distinct paragraph and question once."""
        parts = [self.chars(batch.segments), self.words(batch.segments)]
        if "input" in elmo:
            parts.append(elmo["input"])
        encoded = self.dropout(self.encoder(torch.cat(parts, dim=2), batch.mask))
        return torch.cat([encoded, elmo["output"]], dim=2) if "output" in elmo else encoded

    def boundaries(
        self,
        paragraph: Float[Tensor, "batch time dim"],
        mask: Bool[Tensor, "batch time"],
        question: Float[Tensor, "batch other dim"],
        question_mask: Bool[Tensor, "batch other"],
    ) -> tuple[Float[Tensor, "batch time"], Float[Tensor, "batch time"]]:
        """Return log-probabilities of each token starting and ending the answer."""
        merged = self.project(self.attention(paragraph, mask, question, question_mask))
        merged = merged + self.self_attention(self.dropout(self.self_encoder(merged, mask)), mask)
        merged = self.dropout(merged)
        first = self.start_encoder(merged, mask)
        last = self.end_encoder(torch.cat([merged, first], dim=2), mask)
        return _log_softmax(self.start(first), mask), _log_softmax(self.end(last), mask)

    def loss(
        self, start: Float[Tensor, "batch time"], end: Float[Tensor, "batch time"], batch: Batch
    ) -> Float[Tensor, ""]:
        """Negative log-likelihood of the first answer's start and end; zero without answers."""
        spans = [example.target.spans for example in batch.examples]
        known = [row for row, answers in enumerate(spans) if answers]
        if not known:
            return start.new_zeros(())
        gold = to_device(torch.tensor([spans[row][0] for row in known]), start.device)
        rows = to_device(torch.tensor(known), start.device)
        return -(start[rows, gold[:, 0]] + end[rows, gold[:, 1]]).mean()


def best_spans(
    start: Float[Tensor, "batch time"], end: Float[Tensor, "batch time"], max_span: int
) -> list[list[int]]:
    """Return the most likely span (first, last) of at most `max_span` tokens per example."""
    time = start.shape[1]
    best = start.new_full((len(start),), float("-inf"))
    first = torch.zeros(len(start), dtype=torch.long, device=start.device)
    last = first.clone()
    # One span length at a time: memory is linear in the paragraph, not quadratic.
    for length in range(min(max_span, time)):
        score, position = (start[:, : time - length] + end[:, length:]).max(dim=1)
        better = score > best
        best = torch.where(better, score, best)
        first = torch.where(better, position, first)
        last = torch.where(better, position + length, last)
    return torch.stack([first, last], dim=1).tolist()


def _side(
    encoded: Float[Tensor, "segment time dim"], batch: Batch, segment: int
) -> tuple[Float[Tensor, "batch side dim"], Bool[Tensor, "batch side"]]:
    """Return the paragraphs or the questions of the examples, padded to their own longest."""
    rows: Int[Tensor, " batch"] = batch.row_index(segment)
    mask = batch.mask[rows]
    longest = max(len(batch.segments[example[segment]]) for example in batch.rows)
    return encoded[rows, :longest], mask[:, :longest]


def _gru(input_dim: int, hidden_dim: int, dropout: float) -> BiGru:
    gru = BiGru(input_dim, [hidden_dim], dropout)
    for name, weight in gru.named_parameters():
        if "weight" in name:  # as in the authors' code
            nn.init.trunc_normal_(weight, std=0.05, a=-0.1, b=0.1)
    return gru


def _log_softmax(
    scores: Float[Tensor, "batch time 1"], mask: Bool[Tensor, "batch time"]
) -> Float[Tensor, "batch time"]:
    lowest = torch.finfo(scores.dtype).min
    return scores.squeeze(2).masked_fill(~mask, lowest).log_softmax(dim=1)
