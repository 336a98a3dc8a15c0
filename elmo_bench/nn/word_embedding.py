"""Static word vectors: learned with the task, or pretrained."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from elmo_bench.data.example import Segment
from elmo_bench.data.vectors import read_joined
from elmo_bench.devices import to_device

PADDING, UNKNOWN = 0, 1  # the first two rows of the table
Lowercase = bool | Literal["fallback"]


class Coverage(NamedTuple):
    """Percentage of a text that has its own vector."""

    words: float  # distinct words
    tokens: float


class WordEmbedding(nn.Module):
    """A vector for each word of a vocabulary, and one for all other words.

    The constructor sets random vectors; `random_words` and `pretrained_words` build useful ones.
    `settings()` and the state dict suffice to rebuild an embedding.

    Args:
        vocabulary: The words, lowercased if `lowercase` is true.
        dim: Size of the vectors.
        lowercase: Lowercase words before looking them up; `fallback`: only those that are not in
            the vocabulary as they are written.
        trainable: Whether training updates the vectors.
    """

    drop_rate: Tensor

    def __init__(
        self, vocabulary: Sequence[str], dim: int, lowercase: Lowercase, trainable: bool
    ) -> None:
        super().__init__()
        self.vocabulary, self.lowercase, self.trainable = list(vocabulary), lowercase, trainable
        self.rows = {word: row for row, word in enumerate(self.vocabulary, start=UNKNOWN + 1)}
        num_rows = UNKNOWN + 1 + len(self.vocabulary)
        self.table = nn.Embedding(num_rows, dim, padding_idx=PADDING)
        self.table.weight.requires_grad_(trainable)
        bound = (3 / max(dim, 1)) ** 0.5  # as in Lample et al. (2016)
        with torch.no_grad():
            self.table.weight.uniform_(-bound, bound)[PADDING] = 0
        # How often training replaces a word by the unknown word, which is what trains its vector.
        self.register_buffer("drop_rate", torch.zeros(num_rows))

    @property
    def dim(self) -> int:
        """Size of the vectors."""
        return self.table.embedding_dim

    def forward(self, segments: Sequence[Segment]) -> Float[Tensor, "segment time dim"]:
        """Embed the words of segments; padding is zero."""
        padded = np.full((len(segments), max(map(len, segments))), PADDING)
        for row, segment in enumerate(segments):
            padded[row, : len(segment)] = [self.row(word) for word in segment]
        rows = to_device(padded, self.table.weight.device)
        if self.training:
            rate = self.drop_rate[rows]
            rows = rows.masked_fill(torch.rand_like(rate) < rate, UNKNOWN)
        return self.table(rows)

    def row(self, word: str) -> int:
        """The row of a word in the table."""
        row = self.rows.get(word.lower() if self.lowercase is True else word)
        if row is None and self.lowercase == "fallback":
            row = self.rows.get(word.lower())
        return UNKNOWN if row is None else row

    def coverage(self, segments: Iterable[Segment]) -> Coverage:
        """How much of a text has its own vector."""
        counts = Counter(word for segment in segments for word in segment)
        known = {word: count for word, count in counts.items() if self.row(word) != UNKNOWN}
        return Coverage(
            words=100 * len(known) / max(len(counts), 1),
            tokens=100 * sum(known.values()) / max(sum(counts.values()), 1),
        )

    def settings(self) -> dict[str, Any]:
        """The constructor's arguments, JSON-serializable."""
        names = ("vocabulary", "dim", "lowercase", "trainable")
        return {name: getattr(self, name) for name in names}


def random_words(
    train: Iterable[Segment], dim: int, lowercase: bool, min_count: int, word_dropout: float
) -> WordEmbedding:
    """Vectors learned with the task, for words seen at least `min_count` times in training.

    Args:
        train: Segments of the training split.
        dim: Size of the vectors.
        lowercase: Lowercase words.
        min_count: Rarer words are unknown.
        word_dropout: Training replaces a word by the unknown word at the rate word_dropout /
            (word_dropout + its count), so rare words teach the model to handle unseen words.
    """
    counts = _counts(train, lowercase)
    vocabulary = [word for word, count in counts.most_common() if count >= min_count]
    words = WordEmbedding(vocabulary, dim, lowercase, trainable=True)
    _set_drop_rate(words, counts, word_dropout)
    return words


def no_words() -> WordEmbedding:
    """Vectors of size 0, for models that read only ELMo and characters."""
    return WordEmbedding([], 0, lowercase=False, trainable=False)


def pretrained_words(
    paths: Sequence[Path],
    train: Iterable[Segment],
    other: Iterable[Segment],
    lowercase: Lowercase,
    trainable: bool,
    normalize: bool,
    word_dropout: float,
) -> WordEmbedding:
    """Vectors from files in GloVe's text format; those that several files have are joined.

    Words of the other splits get their vectors too, which reveals nothing about labels. A word
    without a vector is unknown, and the unknown vector is zero; if the vectors are trainable,
    training words without one start from a random vector instead. A word that only some of the
    files have gets zeros in place of the others.

    Args:
        paths: The files, plain text or .gz.
        train: Segments of the training split.
        other: Segments of the other splits.
        lowercase: Lowercase words before looking them up; `fallback`: where a file lacks the word
            as it is written.
        trainable: Whether training updates the vectors.
        normalize: Whether the vectors of each file are scaled to length 1.
        word_dropout: As for `random_words`; used only if the vectors are trainable.
    """
    counts, other_counts = (_counts(segments, lowercase is True) for segments in (train, other))
    fallback = lowercase == "fallback"
    found = read_joined(paths, counts.keys() | other_counts.keys(), fallback, normalize)
    # Sorted by training count, so that the table does not depend on the order of the file.
    vocabulary = [word for word, _ in counts.most_common() if trainable or word in found]
    vocabulary += [word for word in other_counts if word in found and word not in counts]
    matrix = np.stack([found[word] for word in vocabulary if word in found])
    words = WordEmbedding(vocabulary, matrix.shape[1], lowercase, trainable)
    with torch.no_grad():
        words.table.weight.normal_(float(matrix.mean()), float(matrix.std()))
        words.table.weight[[PADDING, UNKNOWN]] = 0
        rows = [words.rows[word] for word in vocabulary if word in found]
        words.table.weight[rows] = torch.from_numpy(matrix)
    if trainable:
        _set_drop_rate(words, counts, word_dropout)
    return words


def _counts(segments: Iterable[Segment], lowercase: bool) -> Counter[str]:
    words = (word for segment in segments for word in segment)
    return Counter(word.lower() if lowercase else word for word in words)


def _set_drop_rate(words: WordEmbedding, counts: Counter[str], word_dropout: float) -> None:
    seen = torch.tensor([counts[word] for word in words.vocabulary], dtype=torch.float)
    # Words of other splits get a rate of 1, but training never reads them. The clamp avoids 0 / 0
    # if word_dropout is 0, which drops nothing.
    words.drop_rate[UNKNOWN + 1 :] = word_dropout / (word_dropout + seen).clamp(min=1e-9)
