"""Fast extraction of frozen layers.

Each word is encoded once; batches group sentences of similar length and shrink as sentences end. On
the CPU a sentence's layers depend on that sentence alone, bit for bit: not on the others of its
batch, and with compiled code not on the number of threads. On a GPU, whose products depend on their
shapes, they can differ by rounding.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from elmo_bench.bilm.characters import BOS, EOS
from elmo_bench.bilm.lstm import LstmStack, State, pack_order, run_stacks
from elmo_bench.bilm.token_encoders import TokenEncoder
from elmo_bench.devices import free_memory, to_device
from elmo_bench.kernels.compiled import packing_once

CPU_BATCH = 64  # sentences
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

    def __call__(self, words: Sequence[str]) -> tuple[Float[Tensor, "word dim"], dict[str, int]]:
        """Return a table with all these words, and each word's row in it."""
        # An in-place change raises a tensor's version; a different tensor has a different address.
        version = [(p.data_ptr(), p._version) for p in self.encoder.parameters()]
        if version != self.version or self.table is None:
            self.rows, self.version = {}, version
        missing = [word for word in dict.fromkeys(words) if word not in self.rows]
        if missing or self.table is None:
            self._add(missing, set(words))
        assert self.table is not None
        return self.table, self.rows

    def _add(self, missing: list[str], needed: set[str]) -> None:
        device = next(self.encoder.parameters()).device
        vectors = self.encoder(self.encoder.ids(missing).to(device))
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
        self, sentences: Sequence[Sequence[str]], batch_size: int | None
    ) -> list[Float[Tensor, "layer _time dim"]]:
        """Layers of each sentence, read separately, in CPU memory."""
        results: list[Tensor] = []
        with packing_once():
            for chunk in chunks(sentences):
                table, row_of = self.words(_words(chunk))
                results += self.read(table, row_of, chunk, batch_size, to_cpu=True)
        return results

    def embed_stream(
        self, sentences: Sequence[Sequence[str]], states: Sequence[State] | None
    ) -> tuple[list[Float[Tensor, "_layer _time _dim"]], list[State]]:
        """Layers of the next sentences of a stream, in CPU memory, and the states at their end.

        The backward LSTM also visits the sentences in text order but reads each one from its end,
        as bilm-tf does.

        Args:
            sentences: In text order, at least one.
            states: Of both directions before them; None at the start of the stream.
        """
        with packing_once():
            table, row_of = self.words(_words(sentences))
            rows = [_frame(sentence, row_of) for sentence in sentences]
            outputs, last = self._read_stream(table, rows, states)
        results, start, table = [], 0, table.cpu()
        for row in rows:
            numbers = torch.arange(start + 1, start + len(row) - 1)
            results.append(_join(table[row[1:-1]], outputs, numbers, numbers.flip(0)))
            start += len(row)
        return results, last

    def read(
        self,
        table: Float[Tensor, "word dim"],
        row_of: Mapping[str, int],
        sentences: Sequence[Sequence[str]],
        batch_size: int | None,
        to_cpu: bool = False,
    ) -> list[Float[Tensor, "layer _time _dim"]]:
        """Layers of each sentence, read separately in batches of similar length.

        Args:
            table: Vectors of the words.
            row_of: The row of each word in the table.
            sentences: What to read.
            batch_size: Sentences of a batch; None is as many as fit into the memory of a GPU.
            to_cpu: Copy the layers to CPU memory, once per batch.
        """
        rows = [_frame(sentence, row_of) for sentence in sentences]
        order = sorted(range(len(rows)), key=lambda number: -len(rows[number]))
        results: dict[int, Tensor] = {}
        for batch in self._batches(order, [len(row) for row in rows], batch_size, table.device):
            layers = self._read_batch(table, [rows[number] for number in batch])
            if table.device.type != "cpu":
                layers = _apart(layers[0].cpu() if to_cpu else layers[0], rows, batch)
            results.update(zip(batch, layers, strict=True))
        return [results[number] for number in range(len(sentences))]

    def _batches(
        self,
        order: Sequence[int],
        lengths: Sequence[int],
        batch_size: int | None,
        device: torch.device,
    ) -> Iterator[Sequence[int]]:
        """Cut sentences in order of falling length, by their number or by the memory they take."""
        start = 0
        while start < len(order):
            size = batch_size or CPU_BATCH
            if batch_size is None and device.type != "cpu":
                # Gates and states of one layer in both directions, and all outputs.
                stack = self.forward_lstm
                floats = 12 * stack.hidden_dim + 6 * (len(stack.layers) + 1) * stack.projection_dim
                tokens = free_memory(device) // 2 // (4 * floats)
                size = max(1, tokens // lengths[order[start]])
            yield order[start : start + size]
            start += size

    def _read_batch(
        self,
        table: Float[Tensor, "word dim"],
        rows: Sequence[Int[Tensor, " _time"]],
    ) -> list[Float[Tensor, "layer _time _dim"]]:
        """Layers of sentences given as rows of the table, longest first.

        On a GPU there is one tensor for all tokens of the batch, since every operation has its
        price there; and what it is told is copied to it in two pieces.
        """
        lengths, cpu = [len(row) for row in rows], torch.device("cpu")
        sequences, steps, sizes = pack_order(lengths, cpu)
        padded = pad_sequence(list(rows), batch_first=True)
        ends = torch.tensor(lengths)[sequences] - 1
        read = torch.stack([padded[sequences, steps], padded[sequences, ends - steps]])
        inputs = list(table[to_device(read, table.device)])
        state = self.forward_lstm.new_state(len(rows))
        stacks = (self.forward_lstm, self.backward_lstm)
        results = run_stacks(stacks, inputs, sizes, [state, state], apart=True)
        outputs = [layers for layers, _ in results]
        packed = torch.empty_like(padded)
        packed[sequences, steps] = torch.arange(len(sequences))
        inner = [numbers[1 : n - 1] for numbers, n in zip(packed, lengths, strict=True)]
        words = [row[1:-1] for row in rows]
        if table.device.type == "cpu":
            pairs = zip(words, inner, strict=True)
            return [_join(table[row], outputs, part, part.flip(0)) for row, part in pairs]
        flipped = [part.flip(0) for part in inner]
        told = to_device(torch.stack([*map(torch.cat, (words, inner, flipped))]), table.device)
        return [_join(table[told[0]], outputs, told[1], told[2])]

    def _read_stream(
        self,
        table: Float[Tensor, "word dim"],
        rows: Sequence[Int[Tensor, " _time"]],
        states: Sequence[State] | None,
    ) -> tuple[list[list[Float[Tensor, "row dim"]]], list[State]]:
        """Outputs of every layer in both directions, in CPU memory, for any number of sentences."""
        stacks = (self.forward_lstm, self.backward_lstm)
        last = list(states or [stack.new_state(1) for stack in stacks])
        orders = torch.stack([torch.cat(list(rows)), torch.cat([row.flip(0) for row in rows])])
        pieces = []
        for piece in orders.to(table.device).split(STREAM_TOKENS, dim=1):
            results = run_stacks(stacks, list(table[piece]), [1] * piece.shape[1], last)
            last = [state for _, state in results]
            pieces.append([[layer.cpu() for layer in layers] for layers, _ in results])
        outputs = [
            [torch.cat(layer) for layer in zip(*direction, strict=True)]
            for direction in zip(*pieces, strict=True)
        ]
        return outputs, last


def _words(sentences: Sequence[Sequence[str]]) -> list[str]:
    return [BOS, EOS, *(word for sentence in sentences for word in sentence)]


def _frame(sentence: Sequence[str], row_of: Mapping[str, int]) -> Int[Tensor, " time"]:
    return torch.tensor([row_of[word] for word in (BOS, *sentence, EOS)])


def _join(
    words: Float[Tensor, "time dim"],
    outputs: Sequence[Sequence[Tensor]],
    forward: Int[Tensor, " time"],
    backward: Int[Tensor, " time"],
) -> Float[Tensor, "layer time _dim"]:
    """Stack all layers of some tokens, whose rows in the directions' outputs are given.

    The word that the forward LSTM reads first is the one that the backward LSTM reads last.
    """
    halves = [(words, words)]
    halves += [(f[forward], b[backward]) for f, b in zip(*outputs, strict=True)]
    return torch.stack([torch.cat(pair, dim=1) for pair in halves])


def _apart(
    layers: Float[Tensor, "layer token dim"], rows: Sequence[Tensor], batch: Sequence[int]
) -> list[Float[Tensor, "layer _time dim"]]:
    """The layers of each sentence of a batch."""
    return list(layers.split([len(rows[number]) - 2 for number in batch], dim=1))


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
