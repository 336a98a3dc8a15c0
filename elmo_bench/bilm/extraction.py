"""Fast extraction of frozen layers.

Each word is encoded once; batches group sentences of similar length and shrink as sentences end.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from elmo_bench.bilm.characters import BOS, EOS
from elmo_bench.bilm.lstm import LstmStack, State, pack_order
from elmo_bench.bilm.token_encoders import TokenEncoder
from elmo_bench.bilm.two_threads import TwoThreads

CHUNK_TOKENS = 50_000  # read per word cache lookup; bounds the memory used
STREAM_TOKENS = 2_048  # of one stream, read per LSTM call; the states carry over to the next
MAX_WORDS = 100_000  # kept in the cache: 200 MB at the original size


class WordCache:
    """Vectors of recently encoded words, recomputed when the encoder's parameters change."""

    def __init__(self, encoder: TokenEncoder, max_words: int = MAX_WORDS) -> None:
        self.encoder, self.max_words = encoder, max_words
        self.rows: dict[str, int] = {}  # oldest first
        self.table: Tensor | None = None
        self.version: list[tuple[int, int]] = []

    def __call__(
        self, two_threads: TwoThreads, words: Sequence[str]
    ) -> tuple[Float[Tensor, "word dim"], dict[str, int]]:
        """Return a table with all these words, and each word's row in it."""
        # An in-place change raises a tensor's version; a different tensor has a different address.
        version = [(p.data_ptr(), p._version) for p in self.encoder.parameters()]
        if version != self.version or self.table is None:
            self.rows, self.version = {}, version
        missing = [word for word in dict.fromkeys(words) if word not in self.rows]
        if missing or self.table is None:
            self._add(two_threads, missing, set(words))
        assert self.table is not None
        return self.table, self.rows

    def _add(self, two_threads: TwoThreads, missing: list[str], needed: set[str]) -> None:
        device = next(self.encoder.parameters()).device
        ids = self.encoder.ids(missing).to(device)
        vectors = torch.cat(
            two_threads(lambda: self.encoder(ids[::2]), lambda: self.encoder(ids[1::2]))
        )
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
    """Reads sentences with both LSTM stacks of a biLM, using their current parameters."""

    def __init__(
        self, encoder: TokenEncoder, forward_lstm: LstmStack, backward_lstm: LstmStack
    ) -> None:
        self.forward_lstm, self.backward_lstm = forward_lstm, backward_lstm
        self.words = WordCache(encoder)

    def embed(
        self, sentences: Sequence[Sequence[str]], batch_size: int
    ) -> list[Float[Tensor, "layer _time dim"]]:
        """Layers of each sentence, read separately, in CPU memory."""
        results: list[Tensor] = []
        with TwoThreads(threaded=self._on_cpu()) as two_threads:
            for chunk in chunks(sentences):
                table, row_of = self.words(two_threads, _words(chunk))
                layers = self.read(two_threads, table, row_of, chunk, batch_size)
                results += [sentence.cpu() for sentence in layers]
        return results

    def embed_stream(
        self, sentences: Sequence[Sequence[str]], states: tuple[State, State] | None
    ) -> tuple[list[Float[Tensor, "_layer _time _dim"]], tuple[State, State]]:
        """Layers of the next sentences of a stream, in CPU memory, and the states at their end.

        The backward LSTM also visits the sentences in text order but reads each one from its end,
        as bilm-tf does.

        Args:
            sentences: In text order, at least one.
            states: Of both directions before them; None at the start of the stream.
        """
        directions = self.forward_lstm, self.backward_lstm
        forward, backward = states or [direction.new_state(1) for direction in directions]
        with TwoThreads(threaded=self._on_cpu()) as two_threads:
            table, row_of = self.words(two_threads, _words(sentences))
            rows = [_frame(sentence, row_of) for sentence in sentences]
            ahead, back = two_threads(
                lambda: _read_long(self.forward_lstm, table, rows, forward),
                lambda: _read_long(
                    self.backward_lstm, table, [row.flip(0) for row in rows], backward
                ),
            )
        results, start = [], 0
        for row in rows:
            numbers = torch.arange(start + 1, start + len(row) - 1, device=table.device)
            words = table[row[1:-1].to(table.device)]
            results.append(_join(words, (ahead[0], back[0]), numbers).cpu())
            start += len(row)
        return results, (ahead[1], back[1])

    def read(
        self,
        two_threads: TwoThreads,
        table: Float[Tensor, "word dim"],
        row_of: Mapping[str, int],
        sentences: Sequence[Sequence[str]],
        batch_size: int,
    ) -> list[Float[Tensor, "layer _time _dim"]]:
        """Layers of each sentence, read separately in batches of similar length."""
        rows = [_frame(sentence, row_of) for sentence in sentences]
        order = sorted(range(len(rows)), key=lambda number: -len(rows[number]))
        results: dict[int, Tensor] = {}
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            layers = self._read_batch(two_threads, table, [rows[number] for number in batch])
            results.update(zip(batch, layers, strict=True))
        return [results[number] for number in range(len(sentences))]

    def _read_batch(
        self,
        two_threads: TwoThreads,
        table: Float[Tensor, "word dim"],
        rows: Sequence[Int[Tensor, " _time"]],
    ) -> list[Float[Tensor, "layer _time _dim"]]:
        """Layers of sentences given as rows of the table, longest first."""
        lengths = [len(row) for row in rows]
        sequences, steps, sizes = pack_order(lengths, table.device)
        padded = pad_sequence(list(rows), batch_first=True).to(table.device)
        ends = torch.tensor(lengths, device=table.device)[sequences] - 1
        inputs = table[padded[sequences, steps]]
        reversed_inputs = table[padded[sequences, ends - steps]]
        state = self.forward_lstm.new_state(len(rows))
        outputs = two_threads(
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
    """Stack all layers of one sentence; `numbers` are its rows in the directions' outputs."""
    halves = [(words, words)]
    # The word that the forward LSTM reads first is the one that the backward LSTM reads last.
    halves += [(f[numbers], b[numbers.flip(0)]) for f, b in zip(*outputs, strict=True)]
    return torch.stack([torch.cat(pair, dim=1) for pair in halves])


def chunks(
    sentences: Iterable[Sequence[str]], num_tokens: int = CHUNK_TOKENS
) -> Iterator[list[Sequence[str]]]:
    """Yield runs of consecutive sentences with about this many tokens each."""
    chunk: list[Sequence[str]] = []
    size = 0
    for sentence in sentences:
        chunk.append(sentence)
        size += len(sentence)
        if size >= num_tokens:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _read_long(
    stack: LstmStack,
    table: Float[Tensor, "word dim"],
    rows: Sequence[Int[Tensor, " _time"]],
    state: State,
) -> tuple[list[Float[Tensor, "row dim"]], State]:
    """Outputs of every layer for consecutive sequences of any total length, and the last state."""
    pieces = []
    for piece in torch.cat(list(rows)).to(table.device).split(STREAM_TOKENS):
        outputs, state = stack.run(table[piece], [1] * len(piece), state)
        pieces.append(outputs)
    return [torch.cat(layer) for layer in zip(*pieces, strict=True)], state
