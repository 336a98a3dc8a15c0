"""Random draws that are the same on every machine and in every process."""

import hashlib
import zlib
from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Draw:
    """A stream of draws keyed by seed and purpose, so that streams do not affect each other."""

    def __init__(self, *name: object) -> None:
        digest = hashlib.sha256("/".join(map(str, name)).encode()).digest()
        self._random = Random(int.from_bytes(digest[:8], "big"))
        self.unit = self._random.random  # bound once: the corpus draws millions of times

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one item, all equally likely; much cheaper than random.choice."""
        return items[int(self.unit() * len(items))]

    def chance(self, probability: float) -> bool:
        return self.unit() < probability

    def between(self, low: int, high: int) -> int:
        """Return an integer, both ends included."""
        return low + int(self.unit() * (high - low + 1))

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        return self._random.sample(items, len(items))

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """Return at most `count` distinct items in random order."""
        return self._random.sample(items, min(count, len(items)))


def share(text: str) -> float:
    """Map a string to a fixed number in [0, 1), which decides whether training may use the word."""
    # The multiplication spreads short words, whose checksums differ in only a few bits.
    return (zlib.crc32(text.encode()) * 2654435761 % 2**32) / 2**32
