"""Word sense disambiguation by the nearest vector (the paper's Table 5)."""

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
from elmo_bench.data.vectors import Vector
from elmo_bench.features.encoder import Encoder

Rows = Float[np.ndarray, "_row dim"]
Answers = list[str | None]  # None: the word is neither in training nor in the back-off


class Method(NamedTuple):
    """How a sense is chosen; the defaults are the paper's method."""

    nearest: Literal["sense", "instance"] = "sense"  # mean of a sense's vectors, or each of them
    center: bool = False  # subtract the mean of the word's training vectors first
    window: int = 0  # also average the vectors of this many words on either side


def most_frequent(train: Iterable[SenseExample]) -> dict[str, str]:
    """Return the most frequent sense of each lemma; ties go to the one seen first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for example in train:
        counts[example.lemma].update(example.senses[:1])
    return {lemma: counter.most_common(1)[0][0] for lemma, counter in counts.items()}


def gather(
    bilm: Encoder, examples: Sequence[SenseExample], windows: Sequence[int], path: Path
) -> dict[int, Float[np.ndarray, "layer row dim"]]:
    """Return, for each window, the layers of each example's word averaged over the window.

    Args:
        bilm: The biLM that computes the layers.
        examples: Words in sentences; consecutive examples of one sentence share its layers.
        windows: Numbers of words to average on either side; 0 is the word alone.
        path: The .npy file to write the vectors to.
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
    """Return the mean static vector of the other words of each sentence."""
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
    """Choose among the senses the lemma has in training; an unseen lemma gets its back-off."""
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
    """Return the vectors that queries are compared with, and the sense of each."""
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
    """Return F1 in percent as the unified framework scores it: any gold sense is correct."""
    answered = sum(answer is not None for answer in answers)
    right = sum(answer in e.senses for e, answer in zip(test, answers, strict=True))
    return 200 * right / (answered + len(test)) if test else 0.0
