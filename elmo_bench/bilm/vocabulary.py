"""The words a biLM predicts: `<S>`, `</S>`, `<UNK>`, then words by descending count.

It holds the targets, and the inputs of a word encoder. Character encoders spell their inputs, so no
input word is unknown to them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from elmo_bench.bilm.characters import BOS, EOS, UNK
from elmo_bench.data.files import DataError, numbered_lines
from elmo_bench.errors import UserError

SPECIAL = (BOS, EOS, UNK)


class Vocabulary:
    """Target words and their ids; the sampled and adaptive softmax rely on the order by count."""

    def __init__(self, words: Sequence[str]) -> None:
        if tuple(words[: len(SPECIAL)]) != SPECIAL:
            raise UserError(f"A vocabulary must start with {SPECIAL}, not {tuple(words[:3])}.")
        self.words = list(words)
        self._ids = {word: index for index, word in enumerate(self.words)}
        if len(self._ids) < len(self.words):
            twice = next(word for word, count in Counter(self.words).items() if count > 1)
            raise UserError(f"The vocabulary contains {twice!r} twice.")

    @classmethod
    def from_counts(
        cls, counts: Iterable[tuple[str, int]], max_words: int, min_count: int
    ) -> "Vocabulary":
        """Take the most frequent words from (word, count) pairs sorted by descending count."""
        words = list(SPECIAL)
        for word, count in counts:
            if len(words) >= max_words or count < min_count:
                break
            if word not in SPECIAL:
                words.append(word)
        return cls(words)

    @classmethod
    def read(cls, path: Path) -> "Vocabulary":
        """Read a file with one word per line, as bilm-tf does."""
        try:
            return cls([line for _, line in numbered_lines(path)])
        except DataError:
            raise
        except ValueError as error:
            raise DataError(path, None, str(error)) from error

    def __len__(self) -> int:
        return len(self.words)

    def ids(self, words: Iterable[str]) -> list[int]:
        """Look words up; a word that is not in the vocabulary is `<UNK>`."""
        unknown = self._ids[UNK]
        return [self._ids.get(word, unknown) for word in words]


def sort_by_count(counts: Counter[str]) -> list[tuple[str, int]]:
    """Sort words by descending count, ties alphabetically."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
