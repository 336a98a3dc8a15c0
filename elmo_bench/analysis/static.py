"""Static (context-free) word vectors, from a file or from the biLM's token layer."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from elmo_bench.analysis.index import cosines, merge_best
from elmo_bench.analysis.text import read_lines
from elmo_bench.data.vectors import Vector, read_vectors, stream_vectors
from elmo_bench.errors import UserError
from elmo_bench.features.encoder import Encoder

BLOCK_WORDS = 20_000  # compared at once
ENCODED_WORDS = 1024  # encoded by the token layer at once
MAX_WORDS = 50_000  # of a text's vocabulary, most frequent first

Alike = list[tuple[float, str]]  # cosine and word, nearest first


def similar_words(word: str, vectors: Path, top: int = 10) -> Alike:
    """Return the nearest words in a vector file, which is streamed; none for an unknown word."""
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


def similar_tokens(word: str, bilm: Encoder, text: Path, top: int = 10) -> Alike:
    """Return the nearest words of a text by the biLM's token layer, which sees no context."""
    counts = Counter(token for line in read_lines(text) for token in line.tokens)
    words = [token for token, _ in counts.most_common(MAX_WORDS) if token != word]
    own = token_vectors(bilm, [word])[word]
    best: Alike = []
    for names, block in _blocks(token_vectors(bilm, words).items()):
        best = merge_best(best, cosines(block, own), names.__getitem__, top)
    return best


def token_vectors(bilm: Encoder, words: Iterable[str]) -> dict[str, Vector]:
    """Return the lowest layer of some words, each read alone."""
    distinct = list(dict.fromkeys(words))
    vectors: dict[str, Vector] = {}
    for start in range(0, len(distinct), ENCODED_WORDS):
        names = distinct[start : start + ENCODED_WORDS]
        stacks = bilm.embed([[name] for name in names])
        vectors |= {
            name: stack[0, 0].cpu().numpy() for name, stack in zip(names, stacks, strict=True)
        }
    return vectors


def token_average(
    sentences: Iterable[tuple[str, ...]], left_out: Iterable[range], vectors: dict[str, Vector]
) -> np.ndarray:
    """Return the mean vector of each sentence except `left_out`; zero if no word is known."""
    dim = len(next(iter(vectors.values())))
    rows = []
    for tokens, target in zip(sentences, left_out, strict=True):
        context = (word for position, word in enumerate(tokens) if position not in target)
        known = [v for word in context if (v := lookup(vectors, word)) is not None]
        rows.append(np.mean(known, axis=0) if known else np.zeros(dim, np.float32))
    return np.stack(rows)


def lookup(vectors: dict[str, Vector], word: str) -> Vector | None:
    """Return the vector of a word or of its lowercase form."""
    found = vectors.get(word)
    return vectors.get(word.lower()) if found is None else found


def read_known(path: Path, words: set[str]) -> dict[str, Vector]:
    """Read the vectors of these words and their lowercase forms; at least one must exist."""
    found = read_vectors(path, words | {word.lower() for word in words})
    if not found:
        raise UserError(f"{path} has no vector for any word of the data")
    return found
