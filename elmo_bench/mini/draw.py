"""Random draws that come out the same on every machine and in every process."""

import hashlib
import zlib
from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Draw:
    """A stream of draws named by its seed and purpose: streams do not disturb each other."""

    def __init__(self, *name: object) -> None:
        digest = hashlib.sha256("/".join(map(str, name)).encode()).digest()
        self._random = Random(int.from_bytes(digest[:8], "big"))
        self.unit = self._random.random  # bound once: the corpus draws millions of times

    def pick(self, items: Sequence[Item]) -> Item:
        """One item, all equally likely; much cheaper than random.choice."""
        return items[int(self.unit() * len(items))]

    def chance(self, probability: float) -> bool:
        return self.unit() < probability

    def between(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + int(self.unit() * (high - low + 1))

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        return self._random.sample(items, len(items))

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """Distinct items in random order, at most `count` of them."""
        return self._random.sample(items, min(count, len(items)))


def share(text: str) -> float:
    """A fixed number in [0, 1) for a string: decides which words the training files may not use."""
    # The multiplication spreads short words: their checksums alone differ in a few bits only.
    return (zlib.crc32(text.encode()) * 2654435761 % 2**32) / 2**32
