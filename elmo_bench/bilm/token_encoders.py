"""Context-independent token encoders: character CNN, character RNN and word table.

Every encoder has `ids(words)`, which turns each word into a row of integers, and `forward(ids)`.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from math import sqrt

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding, linear
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from elmo_bench.bilm.char_windows import window_maxima
from elmo_bench.bilm.characters import NUM_CHARS, PAD, char_ids
from elmo_bench.bilm.panels import in_panels
from elmo_bench.bilm.word_encoder import WordEncoder
from elmo_bench.config.bilm_settings import (
    CharCnnSettings,
    CharRnnSettings,
    EncoderSettings,
    WordEncoderSettings,
)
from elmo_bench.errors import UserError
from elmo_bench.kernels.compiled import fits, load_kernel
from elmo_bench.kernels.convolution import WindowMax
from elmo_bench.kernels.dense import Linear
from elmo_bench.kernels.elementwise import highway, tanh

# Words of similar length are encoded together: the groups' maximum lengths in characters,
# begin-of-word and end-of-word characters included.
_EDGES = (5, 6, 7, 8, 9, 10, 12, 14, 18, 24, 32)
_GROUP_CHARS = 8192  # characters encoded at once; bounds the memory used by the convolutions


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
        widest = max(width for width, _ in filters)
        self.max_chars, self.widest = max_chars, widest
        self.activation = {"relu": torch.relu, "tanh": tanh}[activation]
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
        lengths = (ids != PAD).sum(dim=1)
        kernel = load_kernel() if fits(self.chars) else None
        if kernel is not None:
            return self._raise(WindowMax.apply(kernel, ids, lengths, self.chars, *self.kernels))
        if ids.device.type != "cpu":
            return self._raise(window_maxima(ids, lengths, self.chars, list(self.kernels)))
        return in_panels(self._raise, self._maxima(ids, lengths))

    def _raise(self, maxima: Float[Tensor, "word filter"]) -> Float[Tensor, "word dim"]:
        vectors = self.activation(maxima + self.bias)
        for layer in self.highways:
            vectors = layer(vectors)
        projected: Tensor = self.projection(vectors)
        return projected

    def _maxima(
        self, ids: Int[Tensor, "word char"], lengths: Int[Tensor, " word"]
    ) -> Float[Tensor, "word dim"]:
        """Maximum of each filter over the windows of each word, without compiled code."""
        order = lengths.argsort()
        sorted_ids, sorted_lengths = ids[order], lengths[order].tolist()
        groups = []
        for start, stop, edge in _groups(sorted_lengths):
            convolve = partial(self._convolve, length=min(edge, self.max_chars))
            groups.append(in_panels(convolve, sorted_ids[start:stop]))
        return torch.cat(groups)[order.argsort()] if groups else self._convolve(ids, self.max_chars)

    def _convolve(self, ids: Int[Tensor, "word char"], length: int) -> Float[Tensor, "word dim"]:
        """Maximum of each filter over the windows that start in the first `length` characters."""
        chars = embedding(ids[:, : min(length + self.widest, self.max_chars)], self.chars)
        char_dim, maxima = chars.shape[2], []
        for kernel in self.kernels:
            width = kernel.shape[1] // char_dim
            num_windows = min(length, self.max_chars - width + 1)
            windows = chars[:, : num_windows + width - 1].flatten(1)
            windows = windows.unfold(1, width * char_dim, char_dim)  # (word, window, dim)
            best = linear(windows, kernel).amax(dim=1)
            if length <= self.max_chars - width:  # at least one window sees only padding
                best = torch.maximum(best, kernel @ self.chars[PAD].repeat(width))
            maxima.append(best)
        return torch.cat(maxima, dim=1)


class Highway(nn.Module):
    """g * relu(Wx + b) + (1 - g) * x, with gate g; bilm-tf's files call the gate 'carry'."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.carry, self.transform = Linear(dim, dim), Linear(dim, dim)
        for layer, bias in ((self.carry, -2.0), (self.transform, 0.0)):
            nn.init.normal_(layer.weight, std=1 / sqrt(dim))
            nn.init.constant_(layer.bias, bias)

    def forward(self, inputs: Float[Tensor, "word dim"]) -> Float[Tensor, "word dim"]:
        return highway(self.carry(inputs), self.transform(inputs), inputs)


class CharRnnEncoder(nn.Module):
    """The last states of a bidirectional LSTM over a word's bytes, projected."""

    def __init__(self, output_dim: int, char_dim: int, hidden_dim: int, max_chars: int) -> None:
        super().__init__()
        self.max_chars = max_chars
        self.chars = nn.Embedding(NUM_CHARS, char_dim)
        self.lstm = nn.LSTM(char_dim, hidden_dim, batch_first=True, bidirectional=True)
        self.projection = Linear(2 * hidden_dim, output_dim)

    def ids(self, words: Sequence[str]) -> Int[Tensor, "word char"]:
        return char_ids(words, self.max_chars)

    def forward(self, ids: Int[Tensor, "word char"]) -> Float[Tensor, "word dim"]:
        if not len(ids):
            return self.projection.weight.new_zeros(0, self.projection.out_features)
        lengths = (ids != PAD).sum(dim=1).cpu()
        if not torch.is_grad_enabled():
            return self._frozen(ids, lengths)
        packed = pack_padded_sequence(
            self.chars(ids[:, : int(lengths.max())]),
            lengths,
            batch_first=True,
            enforce_sorted=False,
        )
        return self._last(packed)

    def _frozen(
        self, ids: Int[Tensor, "word char"], lengths: Int[Tensor, " word"]
    ) -> Float[Tensor, "word dim"]:
        """Words of one length at a time, so that no word depends on the others."""
        vectors = self.projection.weight.new_empty(len(ids), self.projection.out_features)
        for length in lengths.unique().tolist():
            rows = (lengths == length).nonzero().squeeze(1).to(ids.device)
            spelled = ids[rows, :length]
            vectors[rows] = in_panels(lambda part: self._last(self.chars(part)), spelled)
        return vectors

    def _last(self, chars: Float[Tensor, "word char dim"] | PackedSequence) -> Tensor:
        _, (last, _) = self.lstm(chars)  # (direction, word, dim)
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
                raise UserError("bilm.encoder.kind=word needs a vocabulary; char_cnn needs none.")
            return WordEncoder(output_dim, **arguments, vocabulary=vocabulary)


def _groups(lengths: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Split ascending lengths into ranges of similar length and bounded size.

    Yield each range and the length that its words have at most.
    """
    start = 0
    while start < len(lengths):
        edge = next((edge for edge in _EDGES if edge >= lengths[start]), lengths[start])
        limit = start + max(1, _GROUP_CHARS // edge)
        stop = start + 1
        while stop < min(limit, len(lengths)) and lengths[stop] <= edge:
            stop += 1
        yield start, stop, edge
        start = stop
