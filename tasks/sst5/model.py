"""The biattentive classification network (McCann et al. 2017), for one sentence."""

from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from elmo_bench.devices import to_device
from elmo_bench.nn.attention import AttentivePooling, align, masked_max, masked_mean
from elmo_bench.nn.birnn import BiLstm
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Batch, Output
from elmo_bench.tasks.sst5.data import LABELS

Head = Literal["relu", "maxout"]
BiLstmName = Literal["encoder", "integrator"]
POOL_SIZE = 4  # linear pieces of a maxout unit, as in AllenNLP


class BiattentiveNetwork(nn.Module):
    """Reads a sentence, attends from it to itself, reads both together, and pools four ways.

    ELMo vectors are concatenated to the words (placement `input`) and to the states of one of the
    two BiLSTMs (`output`).

    Args:
        words: Embeds the words of a batch's segments.
        elmo_dims: Size of the ELMo vectors by placement.
        hidden_dim: Of the feed-forward layer and of each direction of both BiLSTMs.
        embedding_dropout: On the word vectors; ELMo vectors have their own dropout.
        feedforward_dropout: On the input of the first BiLSTM.
        elmo_output: The BiLSTM after which the placement `output` is: the first, `encoder`, or
            the second, `integrator`, as in AllenNLP's model.
        head: `relu`, as in the ELMo paper, or `maxout` with batch norm, as in McCann et al.
        head_dims: Sizes of the head's hidden layers.
        head_dropout: Before each layer of the head, including the last one.
    """

    def __init__(
        self,
        words: WordEmbedding,
        elmo_dims: Mapping[str, int],
        hidden_dim: int,
        embedding_dropout: float,
        feedforward_dropout: float,
        elmo_output: BiLstmName,
        head: Head,
        head_dims: Sequence[int],
        head_dropout: Sequence[float],
    ) -> None:
        super().__init__()
        self.words = words
        self.embedding_dropout = nn.Dropout(embedding_dropout)
        self.feedforward = nn.Sequential(
            nn.Linear(words.dim + elmo_dims.get("input", 0), hidden_dim),
            nn.ReLU(),
            nn.Dropout(feedforward_dropout),
        )
        self.encoder = BiLstm(hidden_dim, [hidden_dim], dropout=0.0)
        self.elmo_output = elmo_output
        output_dims = {"encoder": 0, "integrator": 0} | {elmo_output: elmo_dims.get("output", 0)}
        encoded_dim = self.encoder.dim + output_dims["encoder"]
        self.integrator = BiLstm(3 * encoded_dim, [hidden_dim], dropout=0.0)
        integrated_dim = self.integrator.dim + output_dims["integrator"]
        self.attentive_pooling = AttentivePooling(integrated_dim)
        dims = [4 * integrated_dim, *head_dims, len(LABELS)]
        self.head = build_head(head, dims, head_dropout)

    def forward(self, batch: Batch, elmo: Mapping[str, Tensor]) -> Output:
        """Classify the sentences; a phrase that occurs with two labels is computed once."""
        logits = self.logits(batch, elmo)[batch.row_index()]
        targets = [example.target for example in batch.examples]
        loss = logits.new_zeros(())
        if None not in targets:
            loss = F.cross_entropy(logits, to_device(torch.tensor(targets), logits.device))
        return Output(loss, [] if self.training else logits.argmax(dim=1).tolist())

    def logits(self, batch: Batch, elmo: Mapping[str, Tensor]) -> Float[Tensor, "segment label"]:
        """Return the scores of the five labels for each distinct segment."""
        vectors = self.embedding_dropout(self.words(batch.segments))
        states = self.encoder(self.feedforward(_join(vectors, elmo, "input")), batch.mask)
        if self.elmo_output == "encoder":
            states = _join(states, elmo, "output")
        context = align(states @ states.transpose(1, 2), states, batch.mask)
        both = torch.cat([states, states - context, states * context], dim=2)
        integrated = self.integrator(both, batch.mask)
        if self.elmo_output == "integrator":
            integrated = _join(integrated, elmo, "output")
        pooled = [
            masked_max(integrated, batch.mask),
            -masked_max(-integrated, batch.mask),
            masked_mean(integrated, batch.mask),
            self.attentive_pooling(integrated, batch.mask),
        ]
        return self.head(torch.cat(pooled, dim=1))


def _join(states: Tensor, elmo: Mapping[str, Tensor], placement: str) -> Tensor:
    return torch.cat([states, elmo[placement]], dim=2) if placement in elmo else states


class Maxout(nn.Module):
    """The largest of several linear functions of a batch-normed vector (Goodfellow et al. 2013)."""

    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(input_dim)
        self.linear = nn.Linear(input_dim, POOL_SIZE * output_dim)

    def forward(self, inputs: Float[Tensor, "segment dim"]) -> Float[Tensor, "segment other_dim"]:
        """Take the largest value of each unit's pieces."""
        pieces = self.linear(self._normalize(inputs))
        return pieces.unflatten(1, (-1, POOL_SIZE)).amax(dim=2)

    def _normalize(self, inputs: Tensor) -> Tensor:
        if self.training and len(inputs) == 1:
            # A batch of one has no variance: use the running statistics.
            mean, variance = self.norm.running_mean, self.norm.running_var
            return F.batch_norm(inputs, mean, variance, self.norm.weight, self.norm.bias)
        return self.norm(inputs)


def build_head(kind: Head, dims: Sequence[int], dropout: Sequence[float]) -> nn.Sequential:
    """Build layers from each size to the next, with dropout before each."""
    layers: list[nn.Module] = []
    for input_dim, output_dim, rate in zip(dims[:-1], dims[1:], dropout, strict=True):
        layers.append(nn.Dropout(rate))
        if kind == "maxout":
            layers.append(Maxout(input_dim, output_dim))
        else:
            layers += [nn.Linear(input_dim, output_dim), nn.ReLU()]
    return nn.Sequential(*layers[:-1] if kind == "relu" else layers)  # no ReLU on the scores
