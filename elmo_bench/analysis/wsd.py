"""Word senses by the nearest vector (the paper's Table 5)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from elmo_bench.analysis.senses import SenseExample
from elmo_bench.analysis.static import token_average
from elmo_bench.analysis.stream import shown, stream_layers, write_vectors
from elmo_bench.bilm.model import BiLm
from elmo_bench.data.vectors import Vector

Rows = Float[np.ndarray, "_row dim"]
Answers = list[str | None]  # None: a word that training lacks, and nothing is known of it


class Method(NamedTuple):
    """How a sense is chosen; the paper's way is the default."""

    nearest: Literal["sense", "instance"] = "sense"  # mean of a sense's vectors, or each of them
    center: bool = False  # take the mean of the word's training vectors away first
    window: int = 0  # average the vectors of so many words on either side too


def most_frequent(train: Iterable[SenseExample]) -> dict[str, str]:
    """The most frequent sense by lemma; of equally frequent ones the one met first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for example in train:
        counts[example.lemma].update(example.senses[:1])
    return {lemma: counter.most_common(1)[0][0] for lemma, counter in counts.items()}


def gather(
    bilm: BiLm, examples: Sequence[SenseExample], windows: Sequence[int], path: Path
) -> dict[int, Float[np.ndarray, "layer row dim"]]:
    """By window, the layers of each example's word, averaged with so many on either side.

    Args:
        bilm: Whose layers.
        examples: Words in sentences; a sentence is computed once for examples in a row.
        windows: 0 is the word alone.
        path: The .npy file to write them to.
    """
    shape = (len(windows) * bilm.num_layers, len(examples), bilm.output_dim)
    alike = groupby(shown(examples), lambda example: example.tokens)
    sentences = ((tokens, list(some)) for tokens, some in alike)
    blocks = (
        np.concatenate([_windows(stack, some, window) for window in windows])
        for (_, some), stack in stream_layers(bilm, sentences, lambda item: item[0])
    )
    rows = write_vectors(path, shape, blocks).reshape(len(windows), -1, *shape[1:])
    return dict(zip(windows, rows, strict=True))


def _windows(
    stack: Float[np.ndarray, "layer time dim"], examples: list[SenseExample], window: int
) -> Float[np.ndarray, "layer _row dim"]:
    spans = ((max(0, e.first - window), e.last + 1 + window) for e in examples)
    return np.stack([stack[:, start:end].mean(axis=1) for start, end in spans], axis=1)


def static_context(examples: Sequence[SenseExample], vectors: dict[str, Vector]) -> Rows:
    """The mean static vector of the other words of each sentence."""
    targets = (range(example.first, example.last + 1) for example in examples)
    return token_average((example.tokens for example in examples), targets, vectors)


def disambiguate(
    train: Sequence[SenseExample],
    train_vectors: Rows,
    test: Sequence[SenseExample],
    test_vectors: Rows,
    method: Method,
    back_off: Mapping[str, str],
) -> Answers:
    """Choose among the senses that training has for the word; else take the back-off's."""
    members = _by_lemma(train)
    answers: Answers = [back_off.get(example.lemma) for example in test]
    for lemma, asked in _by_lemma(test).items():
        if lemma not in members:
            continue
        known = np.asarray(train_vectors[members[lemma]], dtype=np.float32)
        query = np.asarray(test_vectors[asked], dtype=np.float32)
        if method.center:
            center = known.mean(axis=0)
            known, query = known - center, query - center
        labels, keys = _keys(known, [train[row].senses for row in members[lemma]], method)
        for row, best in zip(asked, (_unit(query) @ _unit(keys).T).argmax(axis=1), strict=True):
            answers[row] = labels[best]
    return answers


def _keys(known: Rows, names: list[tuple[str, ...]], method: Method) -> tuple[list[str], Rows]:
    """The vectors that queries are compared with, and the sense of each."""
    if method.nearest == "instance":
        return [senses[0] for senses in names], known
    labels = list(dict.fromkeys(chain.from_iterable(names)))
    of_sense = [[row for row, senses in enumerate(names) if label in senses] for label in labels]
    return labels, np.stack([known[rows].mean(axis=0) for rows in of_sense])


def _unit(rows: Rows) -> Rows:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def _by_lemma(examples: Iterable[SenseExample]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = defaultdict(list)
    for row, example in enumerate(examples):
        rows[example.lemma].append(row)
    return rows


def score_senses(test: Sequence[SenseExample], answers: Answers) -> float:
    """F1 in percent, as the unified framework scores: any of the gold senses is right."""
    answered = sum(answer is not None for answer in answers)
    right = sum(answer in e.senses for e, answer in zip(test, answers, strict=True))
    return 200 * right / (answered + len(test)) if test else 0.0
