"""Frozen layers, fast: words encoded once, batches of like length that shrink as sentences end."""

from collections.abc import Iterator, Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from elmo_bench.bilm.characters import BOS, EOS
from elmo_bench.bilm.lstm import LstmStack, pack_order
from elmo_bench.bilm.token_encoders import TokenEncoder
from elmo_bench.bilm.two_threads import TwoThreads

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
        self, both: TwoThreads, words: Sequence[str]
    ) -> tuple[Float[Tensor, "word dim"], dict[str, int]]:
        """A table that has all these words, and each word's row in it."""
        # Every change in place raises a tensor's version; another tensor has another address.
        version = [(p.data_ptr(), p._version) for p in self.encoder.parameters()]
        if version != self.version or self.table is None:
            self.rows, self.version = {}, version
        missing = [word for word in dict.fromkeys(words) if word not in self.rows]
        if missing or self.table is None:
            self._add(both, missing, set(words))
        assert self.table is not None
        return self.table, self.rows

    def _add(self, both: TwoThreads, missing: list[str], needed: set[str]) -> None:
        device = next(self.encoder.parameters()).device
        ids = self.encoder.ids(missing).to(device)
        vectors = torch.cat(both(lambda: self.encoder(ids[::2]), lambda: self.encoder(ids[1::2])))
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


class Extractor:
    """Reads sentences with both stacks of a biLM, on the parameters that they have by then."""

    def __init__(
        self, encoder: TokenEncoder, forward_lstm: LstmStack, backward_lstm: LstmStack
    ) -> None:
        self.forward_lstm, self.backward_lstm = forward_lstm, backward_lstm
        self.words = WordCache(encoder)

    def embed(
        self, sentences: Sequence[Sequence[str]], batch_size: int
    ) -> list[Float[Tensor, "layer _time dim"]]:
        """Layers of each sentence by itself, in main memory."""
        results: list[Tensor] = []
        with TwoThreads(threaded=self._on_cpu()) as both:
            for chunk in _chunks(sentences):
                table, row_of = self.words(both, _words(chunk))
                layers = self.read(both, table, row_of, chunk, batch_size)
                results += [sentence.cpu() for sentence in layers]
        return results

    def embed_stream(
        self, sentences: Sequence[Sequence[str]]
    ) -> list[Float[Tensor, "layer _time dim"]]:
        """Layers of the sentences of one stream, in main memory; each direction goes on.

        The backward LSTM also goes from sentence to sentence in the order of the text, and reads
        each of them from its end, as bilm-tf does.
        """
        with TwoThreads(threaded=self._on_cpu()) as both:
            table, row_of = self.words(both, _words(sentences))
            rows = [_frame(sentence, row_of) for sentence in sentences]
            outputs = both(
                lambda: _read_long(self.forward_lstm, table, rows),
                lambda: _read_long(self.backward_lstm, table, [row.flip(0) for row in rows]),
            )
        results, start = [], 0
        for row in rows:
            numbers = torch.arange(start + 1, start + len(row) - 1, device=table.device)
            results.append(_join(table[row[1:-1].to(table.device)], outputs, numbers).cpu())
            start += len(row)
        return results

    def read(
        self,
        both: TwoThreads,
        table: Float[Tensor, "word dim"],
        row_of: Mapping[str, int],
        sentences: Sequence[Sequence[str]],
        batch_size: int,
    ) -> list[Float[Tensor, "layer _time _dim"]]:
        """Layers of each sentence by itself, those of like length side by side."""
        rows = [_frame(sentence, row_of) for sentence in sentences]
        order = sorted(range(len(rows)), key=lambda number: -len(rows[number]))
        results: dict[int, Tensor] = {}
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            layers = self._read_batch(both, table, [rows[number] for number in batch])
            results.update(zip(batch, layers, strict=True))
        return [results[number] for number in range(len(sentences))]

    def _read_batch(
        self,
        both: TwoThreads,
        table: Float[Tensor, "word dim"],
        rows: Sequence[Int[Tensor, " _time"]],
    ) -> list[Float[Tensor, "layer _time _dim"]]:
        """Layers of sentences given as rows of the table, from the longest on."""
        lengths = [len(row) for row in rows]
        sequences, steps, sizes = pack_order(lengths, table.device)
        padded = pad_sequence(list(rows), batch_first=True).to(table.device)
        ends = torch.tensor(lengths, device=table.device)[sequences] - 1
        inputs = table[padded[sequences, steps]]
        reversed_inputs = table[padded[sequences, ends - steps]]
        state = self.forward_lstm.new_state(len(rows))
        outputs = both(
            lambda: self.forward_lstm.run(inputs, sizes, state)[0],
            lambda: self.backward_lstm.run(reversed_inputs, sizes, state)[0],
        )
        packed = torch.empty_like(padded)
        packed[sequences, steps] = torch.arange(len(sequences), device=table.device)
        return [
            _join(table[row[1 : length - 1]], outputs, numbers[1 : length - 1])
            for row, numbers, length in zip(padded, packed, lengths, strict=True)
        ]

    def _on_cpu(self) -> bool:
        return self.forward_lstm.layers[0].bias.device.type == "cpu"


def _words(sentences: Sequence[Sequence[str]]) -> list[str]:
    return [BOS, EOS, *(word for sentence in sentences for word in sentence)]


def _frame(sentence: Sequence[str], row_of: Mapping[str, int]) -> Int[Tensor, " time"]:
    return torch.tensor([row_of[word] for word in (BOS, *sentence, EOS)])


def _join(
    words: Float[Tensor, "time dim"],
    outputs: tuple[list[Tensor], list[Tensor]],
    numbers: Int[Tensor, " time"],
) -> Float[Tensor, "layer time _dim"]:
    """All layers of one sentence, whose words the directions read at these numbers."""
    halves = [(words, words)]
    # What the forward LSTM reads first the backward LSTM reads last.
    halves += [(f[numbers], b[numbers.flip(0)]) for f, b in zip(*outputs, strict=True)]
    return torch.stack([torch.cat(pair, dim=1) for pair in halves])


def _chunks(sentences: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Consecutive sentences that together have about CHUNK_TOKENS tokens."""
    chunk: list[Sequence[str]] = []
    size = 0
    for sentence in sentences:
        chunk.append(sentence)
        size += len(sentence)
        if size >= CHUNK_TOKENS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _read_long(
    stack: LstmStack, table: Float[Tensor, "word dim"], rows: Sequence[Int[Tensor, " _time"]]
) -> list[Float[Tensor, "row dim"]]:
    """Outputs of every layer for sequences that follow each other, of any length."""
    state, pieces = stack.new_state(1), []
    for piece in torch.cat(list(rows)).to(table.device).split(STREAM_TOKENS):
        outputs, state = stack.run(table[piece], [1] * len(piece), state)
        pieces.append(outputs)
    return [torch.cat(layer) for layer in zip(*pieces, strict=True)]
