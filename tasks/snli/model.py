"""ESIM, the enhanced sequential inference model (Chen et al. 2017)."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from elmo_bench.devices import to_device
from elmo_bench.nn.attention import align, masked_max, masked_mean
from elmo_bench.nn.birnn import BiLstm
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Batch, Output
from elmo_bench.tasks.snli.data import LABELS


class Side(NamedTuple):
    """The premises or the hypotheses of a batch, padded to the longest among them."""

    states: Float[Tensor, "batch time dim"]
    mask: Bool[Tensor, "batch time"]


class Esim(nn.Module):
    """Soft-aligns premise and hypothesis, compares them token by token, and reads the result.

    ELMo vectors are concatenated to the words (placement `input`) and to the states of the first
    BiLSTM (`output`).

    Args:
        words: Embeds the words of a batch's segments.
        elmo_dims: Size of the ELMo vectors by placement.
        hidden_dim: Of each direction of both BiLSTMs, and of the feed-forward layers.
        input_dropout: On the input of both BiLSTMs, one mask for all tokens of a sentence.
        head_dropout: Before each of the last two layers.
        attention_dropout: On the comparison of a token with what it is aligned to.
        weight_penalty: L2 on the matrices of BiLSTMs and feed-forward layers, during training.
    """

    def __init__(
        self,
        words: WordEmbedding,
        elmo_dims: Mapping[str, int],
        hidden_dim: int,
        input_dropout: float,
        head_dropout: float,
        attention_dropout: float,
        weight_penalty: float,
    ) -> None:
        super().__init__()
        self.words = words
        self.attention_dropout = nn.Dropout(attention_dropout)
        self.weight_penalty = weight_penalty
        word_dim = words.dim + elmo_dims.get("input", 0)
        self.encoder = BiLstm(word_dim, [hidden_dim], input_dropout)
        encoded_dim = self.encoder.dim + elmo_dims.get("output", 0)
        self.projection = nn.Sequential(nn.Linear(4 * encoded_dim, hidden_dim), nn.ReLU())
        self.composition = BiLstm(hidden_dim, [hidden_dim], input_dropout)
        self.head = nn.Sequential(
            nn.Dropout(head_dropout),
            nn.Linear(4 * self.composition.dim, hidden_dim),  # mean and max of two sentences
            nn.ReLU(),
            nn.Dropout(head_dropout),
            nn.Linear(hidden_dim, len(LABELS)),
        )

    def forward(self, batch: Batch, elmo: Mapping[str, Tensor]) -> Output:
        """Classify the pairs."""
        logits = self.logits(batch, elmo)
        targets = [example.target for example in batch.examples]
        loss = logits.new_zeros(())
        if None not in targets:
            gold = to_device(
                torch.tensor([LABELS.index(label) for label in targets]), logits.device
            )
            loss = F.cross_entropy(logits, gold)
        if self.training:
            return Output(loss + self.weight_penalty * self._squared_weights(), [])
        return Output(loss, [LABELS[label] for label in logits.argmax(dim=1).tolist()])

    def logits(self, batch: Batch, elmo: Mapping[str, Tensor]) -> Float[Tensor, "batch label"]:
        """Return the scores of the labels for each pair."""
        premise, hypothesis = (self.encode(batch, elmo, segment) for segment in (0, 1))
        scores = premise.states @ hypothesis.states.transpose(1, 2)  # (batch, time, other)
        compared = [
            self.compare(premise, align(scores, *hypothesis)),
            self.compare(hypothesis, align(scores.transpose(1, 2), *premise)),
        ]
        return self.head(torch.cat(compared, dim=1))

    def encode(self, batch: Batch, elmo: Mapping[str, Tensor], segment: int) -> Side:
        """Read one sentence of each pair; one that several pairs share is read once.

        Premises are about twice as long as hypotheses, so each side is padded separately.
        """
        chosen = torch.tensor([rows[segment] for rows in batch.rows])
        found = chosen.unique(return_inverse=True)  # on the CPU, since a GPU would be waited for
        vectors = self.words([batch.segments[row] for row in found[0].tolist()])
        rows, pairs = (to_device(numbers, batch.mask.device) for numbers in found)
        length = vectors.shape[1]
        mask = batch.mask[rows, :length]
        if "input" in elmo:
            vectors = torch.cat([vectors, elmo["input"][rows, :length]], dim=2)
        states = self.encoder(vectors, mask)
        if "output" in elmo:
            states = torch.cat([states, elmo["output"][rows, :length]], dim=2)
        return Side(states[pairs], mask[pairs])

    def compare(
        self, side: Side, aligned: Float[Tensor, "batch time dim"]
    ) -> Float[Tensor, "batch pooled_dim"]:
        """Compare each token with what it is aligned to, read the result, and pool it."""
        states, mask = side
        parts = torch.cat([states, aligned, states - aligned, states * aligned], dim=2)
        projected = self.projection(self.attention_dropout(parts))
        composed = self.composition(projected, mask)
        return torch.cat([masked_mean(composed, mask), masked_max(composed, mask)], dim=1)

    def _squared_weights(self) -> Float[Tensor, ""]:
        parts = (self.encoder, self.projection, self.composition, self.head)
        matrices = [w for part in parts for w in part.parameters() if w.dim() == 2]
        return torch.stack([matrix.square().sum() for matrix in matrices]).sum()
