"""Words that are alike by vectors without context: of a file, or the biLM's token layer."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from elmo_bench.analysis.index import cosines, merge_best
from elmo_bench.analysis.text import read_lines
from elmo_bench.bilm.model import BiLm
from elmo_bench.nn.vectors import Vector, read_vectors, stream_vectors

BLOCK_WORDS = 20_000  # compared at a time
MAX_WORDS = 50_000  # of a text's vocabulary, the most frequent first

Alike = list[tuple[float, str]]  # cosine and word, from the nearest on


def similar_words(word: str, vectors: Path, top: int = 10) -> Alike:
    """The nearest words of a file of vectors, which is streamed; empty for an unknown word."""
    found = read_vectors(vectors, {word, word.lower()})
    own = found.get(word, found.get(word.lower()))
    if own is None:
        return []
    others = (pair for pair in stream_vectors(vectors) if pair[0] not in (word, word.lower()))
    best: Alike = []
    for names, block in _blocks(others):
        best = merge_best(best, cosines(block, own), names.__getitem__, top)
    return best


def _blocks(pairs: Iterable[tuple[str, Vector]]) -> Iterator[tuple[list[str], np.ndarray]]:
    pairs = iter(pairs)
    while block := list(islice(pairs, BLOCK_WORDS)):
        yield [word for word, _ in block], np.stack([vector for _, vector in block])


def similar_tokens(word: str, bilm: BiLm, text: Path, top: int = 10) -> Alike:
    """The nearest words of a text by the biLM's token layer, which sees no context."""
    counts = Counter(token for line in read_lines(text) for token in line.tokens)
    words = [token for token, _ in counts.most_common(MAX_WORDS) if token != word]
    with torch.no_grad():
        own = bilm.encode_words([word])[0].cpu().numpy()
        best: Alike = []
        for start in range(0, len(words), BLOCK_WORDS):
            names = words[start : start + BLOCK_WORDS]
            block = bilm.encode_words(names).cpu().numpy()
            best = merge_best(best, cosines(block, own), names.__getitem__, top)
    return best


def token_average(
    sentences: Iterable[tuple[str, ...]], left_out: Iterable[range], vectors: dict[str, Vector]
) -> np.ndarray:
    """The mean vector of each sentence's words but some; zero where no word is known."""
    dim = len(next(iter(vectors.values())))
    rows = []
    for tokens, target in zip(sentences, left_out, strict=True):
        context = (word for place, word in enumerate(tokens) if place not in target)
        known = [v for word in context if (v := lookup(vectors, word)) is not None]
        rows.append(np.mean(known, axis=0) if known else np.zeros(dim, np.float32))
    return np.stack(rows)


def lookup(vectors: dict[str, Vector], word: str) -> Vector | None:
    """A word's vector, or that of its lower-case form."""
    found = vectors.get(word)
    return vectors.get(word.lower()) if found is None else found
