"""Endless streams of shuffled sentences, packed into batch rows for truncated backpropagation.

Each sentence is read as <S> words </S>; its inputs are all tokens but the last, its targets all
but the first, so a forward stream never reads </S> and a backward one never reads <S>, as in
bilm-tf. A row continues a sentence where the previous batch cut it off, and takes the next sentence
of the shuffled corpus when one is used up. No position is padded, and none is skipped unless a row
is reset.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from elmo_bench.bilm.characters import BOS, EOS
from elmo_bench.pretraining.sentence_store import SentenceStore

_BLOCK = 4096  # positions of a shuffled order computed at once


class ShuffledOrder:
    """A permutation of range(size) that is computed, not stored, so it needs no memory.

    A Feistel network permutes the next larger power of four; numbers past `size` are sent through
    again until they fall below it.
    """

    def __init__(self, size: int, seed: Sequence[int]) -> None:
        self.size = size
        self._half_bits = max(1, ((size - 1).bit_length() + 1) // 2)
        self._keys = np.random.default_rng(list(seed)).integers(1 << 32, size=4, dtype=np.uint64)
        self._block_number = -1
        self._block = np.empty(0, np.int64)

    def __getitem__(self, position: int) -> int:
        number, offset = divmod(position, _BLOCK)
        if number != self._block_number:
            start = number * _BLOCK
            self._block = self._permute(np.arange(start, min(start + _BLOCK, self.size)))
            self._block_number = number
        return int(self._block[offset])

    def _permute(self, positions: np.ndarray) -> np.ndarray:
        values = self._rounds(positions.astype(np.uint64))
        while (outside := values >= self.size).any():
            values[outside] = self._rounds(values[outside])
        return values.astype(np.int64)

    def _rounds(self, values: np.ndarray) -> np.ndarray:
        bits, mask = np.uint64(self._half_bits), np.uint64((1 << self._half_bits) - 1)
        left, right = values >> bits, values & mask
        for key in self._keys:
            # The multipliers are those of the murmur3 finalizer; overflow is intended.
            mixed = (right ^ key) * np.uint64(0xFF51AFD7ED558CCD)
            mixed = (mixed ^ (mixed >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
            left, right = right, left ^ ((mixed ^ (mixed >> np.uint64(33))) & mask)
        return (left << bits) | right


class Stream:
    """One direction of the corpus, dealt to the rows of a batch.

    Every rank deals sentences to all rows, which needs only their lengths, and reads the text of
    its own rows. So the rows hold the same text however many ranks share them.

    Args:
        store: The sentences; each is dealt once before any is dealt again.
        batch_size: Rows of all ranks together.
        rows: The rows to read.
        seed: Numbers that determine the order of the sentences, together with the epoch.
        reverse: Read sentences from their end.
    """

    def __init__(
        self, store: SentenceStore, batch_size: int, rows: range, seed: Sequence[int], reverse: bool
    ) -> None:
        self._store, self._rows, self._seed, self._reverse = store, rows, tuple(seed), reverse
        self.epoch, self.dealt = 0, 0
        self._order = ShuffledOrder(len(store), (*self._seed, 0))
        # Sentence of each row, and how many of its tokens are used up; -1 is before the first.
        self.places = [(-1, 0)] * batch_size

    def read(self, steps: int, reset: Collection[int] = ()) -> tuple[list[str], list[str]]:
        """Return the next inputs and targets of this rank's rows, row by row, `steps` of each.

        Args:
            steps: Tokens of each row.
            reset: Rows that leave their sentence and start a new one.
        """
        inputs: list[str] = []
        targets: list[str] = []
        for row in reset:
            self.places[row] = (-1, 0)
        for row in range(len(self.places)):
            missing = steps
            while missing:
                sentence, used = self._current(row)
                taken = min(missing, int(self._store.lengths[sentence]) + 1 - used)
                if row in self._rows:
                    tokens = self._tokens(sentence)
                    inputs += tokens[used : used + taken]
                    targets += tokens[used + 1 : used + taken + 1]
                self.places[row] = (sentence, used + taken)
                missing -= taken
        return inputs, targets

    def state(self) -> dict[str, Any]:
        """The position in the corpus, for `restore`."""
        return {"epoch": self.epoch, "dealt": self.dealt, "places": list(self.places)}

    def restore(self, state: dict[str, Any]) -> None:
        """Return to a position saved by `state`."""
        self.epoch, self.dealt = state["epoch"], state["dealt"]
        self.places = [(int(sentence), int(used)) for sentence, used in state["places"]]
        self._order = ShuffledOrder(len(self._store), (*self._seed, self.epoch))

    def _current(self, row: int) -> tuple[int, int]:
        """The row's sentence, or the next one of the corpus if it is used up."""
        sentence, used = self.places[row]
        if sentence >= 0 and used <= self._store.lengths[sentence]:
            return sentence, used
        if self.dealt == len(self._store):
            self.epoch, self.dealt = self.epoch + 1, 0
            self._order = ShuffledOrder(len(self._store), (*self._seed, self.epoch))
        self.dealt += 1
        return self._order[self.dealt - 1], 0

    def _tokens(self, sentence: int) -> list[str]:
        tokens = [BOS, *self._store[sentence], EOS]
        return tokens[::-1] if self._reverse else tokens
