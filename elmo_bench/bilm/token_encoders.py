"""Context-independent token encoders: character CNN, character RNN and word table.

Every encoder has `ids(words)`, which turns each word into a row of integers, and `forward(ids)`.
"""

from collections.abc import Sequence
from math import sqrt

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from elmo_bench.bilm.char_windows import window_maxima
from elmo_bench.bilm.characters import NUM_CHARS, PAD, char_ids
from elmo_bench.bilm.word_encoder import WordEncoder
from elmo_bench.config.bilm_settings import (
    CharCnnSettings,
    CharRnnSettings,
    EncoderSettings,
    WordEncoderSettings,
)
from elmo_bench.kernels.compiled import fits, load_kernel
from elmo_bench.kernels.convolution import WindowMax
from elmo_bench.kernels.dense import Linear


class CharCnnEncoder(nn.Module):
    """The paper's encoder: convolutions over bytes, max pooling, highway layers, projection.

    The result is that of convolving over all `max_chars` positions. Windows that see only padding
    all have the same value, so it is computed once and padded positions are skipped.

    Args:
        output_dim: Size of a word's vector.
        filters: Pairs (width, number of filters).
        activation: Applied after the maximum over positions: relu or tanh.
    """

    def __init__(
        self,
        output_dim: int,
        char_dim: int,
        filters: Sequence[Sequence[int]],
        num_highways: int,
        activation: str,
        max_chars: int,
    ) -> None:
        super().__init__()
        self.max_chars = max_chars
        self.activation = {"relu": torch.relu, "tanh": torch.tanh}[activation]
        self.chars = nn.Parameter(torch.empty(NUM_CHARS, char_dim).uniform_(-1, 1))
        self.kernels = nn.ParameterList(
            torch.empty(number, width * char_dim).uniform_(-0.05, 0.05) for width, number in filters
        )
        filter_dim = sum(number for _, number in filters)
        self.bias = nn.Parameter(torch.zeros(filter_dim))
        self.highways = nn.ModuleList(Highway(filter_dim) for _ in range(num_highways))
        # Like bilm-tf, no projection if the filters already give the output size.
        if filter_dim == output_dim:
            self.projection: nn.Module = nn.Identity()
            return
        self.projection = Linear(filter_dim, output_dim)
        nn.init.normal_(self.projection.weight, std=1 / sqrt(filter_dim))
        nn.init.zeros_(self.projection.bias)

    def ids(self, words: Sequence[str]) -> Int[Tensor, "word char"]:
        return char_ids(words, self.max_chars)

    def forward(self, ids: Int[Tensor, "word char"]) -> Float[Tensor, "word dim"]:
        """Encode each word independently, in the given order."""
        kernel = load_kernel() if fits(self.chars) else None
        if kernel is None:
            maxima = window_maxima(ids, self.chars, list(self.kernels))
        else:
            lengths = (ids != PAD).sum(dim=1)
            maxima = WindowMax.apply(kernel, ids, lengths, self.chars, *self.kernels)
        vectors = self.activation(maxima + self.bias)
        for highway in self.highways:
            vectors = highway(vectors)
        projected: Tensor = self.projection(vectors)
        return projected


class Highway(nn.Module):
    """g * relu(Wx + b) + (1 - g) * x, with gate g; bilm-tf's files call the gate 'carry'."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.carry, self.transform = Linear(dim, dim), Linear(dim, dim)
        for layer, bias in ((self.carry, -2.0), (self.transform, 0.0)):
            nn.init.normal_(layer.weight, std=1 / sqrt(dim))
            nn.init.constant_(layer.bias, bias)

    def forward(self, inputs: Float[Tensor, "word dim"]) -> Float[Tensor, "word dim"]:
        gate = torch.sigmoid(self.carry(inputs))
        transformed = torch.relu(self.transform(inputs))
        # Autocast computes both in the lower precision, and lerp takes one dtype only.
        return torch.lerp(inputs, transformed.to(inputs.dtype), gate.to(inputs.dtype))


class CharRnnEncoder(nn.Module):
    """The last states of a bidirectional LSTM over a word's bytes, projected."""

    def __init__(self, output_dim: int, char_dim: int, hidden_dim: int, max_chars: int) -> None:
        super().__init__()
        self.max_chars = max_chars
        self.chars = nn.Embedding(NUM_CHARS, char_dim)
        self.lstm = nn.LSTM(char_dim, hidden_dim, batch_first=True, bidirectional=True)
        self.projection = nn.Linear(2 * hidden_dim, output_dim)

    def ids(self, words: Sequence[str]) -> Int[Tensor, "word char"]:
        return char_ids(words, self.max_chars)

    def forward(self, ids: Int[Tensor, "word char"]) -> Float[Tensor, "word dim"]:
        if not len(ids):
            return self.projection.weight.new_zeros(0, self.projection.out_features)
        lengths = (ids != PAD).sum(dim=1).cpu()
        packed = pack_padded_sequence(
            self.chars(ids[:, : int(lengths.max())]),
            lengths,
            batch_first=True,
            enforce_sorted=False,
        )
        _, (last, _) = self.lstm(packed)  # (direction, word, dim)
        return self.projection(torch.cat([last[0], last[1]], dim=1))


TokenEncoder = CharCnnEncoder | CharRnnEncoder | WordEncoder


def build_encoder(
    settings: EncoderSettings, output_dim: int, vocabulary: Sequence[str] | None
) -> TokenEncoder:
    """Build the encoder that settings describe."""
    arguments = settings.model_dump(exclude={"kind"})
    match settings:
        case CharCnnSettings():
            return CharCnnEncoder(output_dim, **arguments)
        case CharRnnSettings():
            return CharRnnEncoder(output_dim, **arguments)
        case WordEncoderSettings():
            if vocabulary is None:
                raise ValueError("bilm.encoder.kind=word needs a vocabulary; char_cnn needs none.")
            return WordEncoder(output_dim, **arguments, vocabulary=vocabulary)
