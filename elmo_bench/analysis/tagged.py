"""Readers of sentences with parts of speech: CoNLL-2012, or any file of columns."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from elmo_bench.data.conll2012 import read_documents
from elmo_bench.data.files import DataError, numbered_lines
from elmo_bench.errors import UserError

DEV_EVERY = 10  # without a dev file, every n-th training sentence is cut off for dev


class Tagged(NamedTuple):
    """A sentence with its parts of speech."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


class Columns(NamedTuple):
    """Where words and tags are in a file of columns, counted from 1."""

    word: int
    tag: int


CONLL2000 = Columns(1, 2)


def read_tagged(path: Path, columns: Columns = CONLL2000) -> list[Tagged]:
    """Read a file of columns, plain or .gz; one that begins as CoNLL-2012 has its own columns."""
    if is_conll2012(path):
        found = [
            Tagged(sentence.words, sentence.pos)
            for document in read_documents(path)
            for sentence in document.sentences
        ]
    else:
        found = _read_columns(path, columns)
    if not any(tag not in ("-", "*") for sentence in found for tag in sentence.tags):
        raise DataError(path, None, "the column of parts of speech is empty")
    return found


def is_conll2012(path: Path) -> bool:
    """Whether a file begins as CoNLL-2012 does."""
    lines = (line for _, line in numbered_lines(path) if line.strip())
    return any(line.startswith("#begin document") for line in islice(lines, 1))


def _read_columns(path: Path, columns: Columns) -> list[Tagged]:
    """Read lines of columns, with a blank line after each sentence."""
    sentences: list[Tagged] = []
    rows: list[tuple[str, str]] = []
    for number, line in numbered_lines(path):
        fields = line.split("\t") if "\t" in line else line.split()
        if not line.strip() or fields[0] == "-DOCSTART-":
            if rows:
                sentences.append(_sentence(rows))
            rows = []
        elif len(fields) < max(columns):
            problem = f"{len(fields)} columns, but words are in column {columns.word} and tags in "
            raise DataError(path, number, f"{problem}column {columns.tag}: {line[:60]!r}")
        else:
            rows.append((fields[columns.word - 1], fields[columns.tag - 1]))
    return [*sentences, _sentence(rows)] if rows else sentences


def _sentence(rows: Sequence[tuple[str, str]]) -> Tagged:
    words, tags = zip(*rows, strict=True)
    return Tagged(words, tags)


def cut_dev(train: Sequence[Tagged]) -> tuple[list[Tagged], list[Tagged]]:
    """Split training sentences into train and dev, always the same way."""
    dev = list(train[DEV_EVERY - 1 :: DEV_EVERY])
    if not dev:
        raise UserError(
            f"{len(train)} training sentences are too few to cut every {DEV_EVERY}th off for dev; "
            "give a dev file with --dev."
        )
    return [s for number, s in enumerate(train, start=1) if number % DEV_EVERY], dev
