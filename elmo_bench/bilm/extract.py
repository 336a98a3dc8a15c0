"""Frozen layers, fast: words encoded once, batches of like length that shrink as sentences end."""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from elmo_bench.bilm.encoders import TokenEncoder
from elmo_bench.bilm.lstm import LstmStack, pack_order
from elmo_bench.bilm.sides import Sides

CHUNK_TOKENS = 50_000  # read between two visits to the word cache; bounds the memory they take
STREAM_TOKENS = 2_048  # of one stream, read between two hand-overs of the states
MAX_WORDS = 100_000  # kept in the cache: 200 MB at the original size


class WordCache:
    """Vectors of the words met last, recomputed when the encoder's parameters change."""

    def __init__(self, encoder: TokenEncoder, max_words: int = MAX_WORDS) -> None:
        self.encoder, self.max_words = encoder, max_words
        self.rows: dict[str, int] = {}  # oldest first
        self.table: Tensor | None = None
        self.version: list[tuple[int, int]] = []

    def __call__(
        self, sides: Sides, words: Sequence[str]
    ) -> tuple[Float[Tensor, "word dim"], dict[str, int]]:
        """A table that has all these words, and each word's row in it."""
        # Every change in place raises a tensor's version; another tensor has another address.
        version = [(p.data_ptr(), p._version) for p in self.encoder.parameters()]
        if version != self.version or self.table is None:
            self.rows, self.version = {}, version
        missing = [word for word in dict.fromkeys(words) if word not in self.rows]
        if missing or self.table is None:
            self._add(sides, missing, set(words))
        assert self.table is not None
        return self.table, self.rows

    def _add(self, sides: Sides, missing: list[str], needed: set[str]) -> None:
        device = next(self.encoder.parameters()).device
        ids = self.encoder.ids(missing).to(device)
        vectors = torch.cat(sides(lambda: self.encoder(ids[::2]), lambda: self.encoder(ids[1::2])))
        missing = missing[::2] + missing[1::2]
        if self.rows and self.table is not None:
            surplus = len(self.rows) + len(missing) - self.max_words
            unneeded = [word for word in self.rows if word not in needed]
            for word in unneeded[: max(surplus, 0)]:
                del self.rows[word]
            kept = torch.tensor(list(self.rows.values()), dtype=torch.long, device=device)
            vectors = torch.cat([self.table[kept], vectors])
        self.rows = {word: row for row, word in enumerate([*self.rows, *missing])}
        self.table = vectors


def chunks(sentences: Sequence[Sequence[str]]) -> Iterator[list[int]]:
    """Numbers of consecutive sentences that together have about CHUNK_TOKENS tokens."""
    chunk: list[int] = []
    size = 0
    for number, sentence in enumerate(sentences):
        chunk.append(number)
        size += len(sentence)
        if size >= CHUNK_TOKENS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def batches(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Numbers of sentences of like length, the longest first."""
    order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def read_batch(
    sides: Sides,
    forward_lstm: LstmStack,
    backward_lstm: LstmStack,
    table: Float[Tensor, "word dim"],
    sentences: Sequence[Int[Tensor, " _time"]],
) -> list[Float[Tensor, "layer _time _dim"]]:
    """Layers of sentences, given as rows of the table with BOS and EOS, from the longest on."""
    lengths = [len(sentence) for sentence in sentences]
    sequences, steps, sizes = pack_order(lengths, table.device)
    padded = torch.nn.utils.rnn.pad_sequence(list(sentences), batch_first=True).to(table.device)
    ends = torch.tensor(lengths, device=table.device)
    inputs = table[padded[sequences, steps]]
    reversed_inputs = table[padded[sequences, ends[sequences] - 1 - steps]]
    state = forward_lstm.new_state(len(lengths))
    (outputs, _), (reversed_outputs, _) = sides(
        lambda: forward_lstm.run(inputs, sizes, state),
        lambda: backward_lstm.run(reversed_inputs, sizes, state),
    )
    packed_row = torch.empty_like(padded)
    packed_row[sequences, steps] = torch.arange(len(sequences), device=table.device)
    results = []
    for sentence, row, length in zip(padded, packed_row, lengths, strict=True):
        there, back = row[1 : length - 1], row[1 : length - 1].flip(0)
        word = table[sentence[1 : length - 1]]
        halves = [(word, word)]
        halves += [(f[there], b[back]) for f, b in zip(outputs, reversed_outputs, strict=True)]
        results.append(torch.stack([torch.cat(pair, dim=1) for pair in halves]))
    return results


def read_stream(
    sides: Sides,
    forward_lstm: LstmStack,
    backward_lstm: LstmStack,
    table: Float[Tensor, "word dim"],
    sentences: Sequence[Int[Tensor, " _time"]],
) -> list[Float[Tensor, "layer _time _dim"]]:
    """Layers of the sentences of one stream; each direction carries its states on.

    The backward LSTM also goes from sentence to sentence in the order of the text, and reads each
    of them from its end, as bilm-tf does.
    """
    rows = [sentence.to(table.device) for sentence in sentences]
    outputs, reversed_outputs = sides(
        lambda: _read_long(forward_lstm, table, torch.cat(rows)),
        lambda: _read_long(backward_lstm, table, torch.cat([row.flip(0) for row in rows])),
    )
    results, start = [], 0
    for row in rows:
        inside = slice(start + 1, start + len(row) - 1)
        word = table[row[1:-1]]
        halves = [(word, word)]
        halves += [
            (f[inside], b[inside].flip(0)) for f, b in zip(outputs, reversed_outputs, strict=True)
        ]
        results.append(torch.stack([torch.cat(pair, dim=1) for pair in halves]))
        start += len(row)
    return results


def _read_long(
    stack: LstmStack, table: Float[Tensor, "word dim"], rows: Int[Tensor, " time"]
) -> list[Float[Tensor, "time dim"]]:
    """Outputs of every layer for one sequence of any length."""
    state, pieces = stack.new_state(1), []
    for piece in rows.split(STREAM_TOKENS):
        outputs, state = stack.run(table[piece], [1] * len(piece), state)
        pieces.append(outputs)
    return [torch.cat(layer) for layer in zip(*pieces, strict=True)]
