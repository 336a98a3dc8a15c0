"""Word vector files: reading GloVe's text format, and training vectors on a text."""

import logging
import re
import zlib
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from elmo_bench.data.files import DataError, numbered_lines
from elmo_bench.errors import UserError
from elmo_bench.records.atomic import replace_file
from elmo_bench.records.checksums import CHECKSUMS, find_damage, write_checksums
from elmo_bench.records.lock import file_lock

Vector = Float[np.ndarray, " dim"]
log = logging.getLogger(__name__)
SURPLUS = re.compile(r" -?\d*\.\d+$")  # a number left on the word: the line has too many


def read_vectors(path: Path, wanted: Container[str]) -> dict[str, Vector]:
    """Return the vectors of the wanted words; if a word occurs twice, the first one counts."""
    found: dict[str, Vector] = {}
    for number, word, values in _split_lines(path):
        if word in wanted and word not in found:
            found[word] = _vector(path, number, values)
    return found


def read_joined(
    paths: Sequence[Path], wanted: Collection[str], fallback: bool, normalize: bool
) -> dict[str, Vector]:
    """Return the vectors of the wanted words that any file has, those of all files joined.

    Args:
        paths: The files. A word that one of them lacks gets zeros in its place.
        wanted: The words.
        fallback: Whether a word that a file lacks takes the vector of its lowercase form.
        normalize: Whether the vectors of each file are scaled to length 1.
    """
    parts = [_read_part(path, wanted, fallback, normalize) for path in paths]
    padded = [(part, np.zeros_like(next(iter(part.values())))) for part in parts]
    return {
        word: np.concatenate([part.get(word, zeros) for part, zeros in padded])
        for word in set().union(*parts)
    }


def _read_part(
    path: Path, wanted: Collection[str], fallback: bool, normalize: bool
) -> dict[str, Vector]:
    spellings = {*wanted, *(word.lower() for word in wanted)} if fallback else wanted
    found = read_vectors(path, spellings)
    if normalize:
        found = {word: _unit(vector) for word, vector in found.items()}
    if fallback:
        lowered = {word: found.get(word, found.get(word.lower())) for word in wanted}
        found = {word: vector for word, vector in lowered.items() if vector is not None}
    if not found:
        raise DataError(
            path,
            None,
            f"it has vectors for none of the {len(wanted)} words of the text; is words.lowercase "
            "right for it? false looks words up as they are written, true in lowercase",
        )
    return found


def _unit(vector: Vector) -> Vector:
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else vector


def stream_vectors(path: Path) -> Iterator[tuple[str, Vector]]:
    """Yield all words with their vectors, in file order."""
    for number, word, values in _split_lines(path):
        yield word, _vector(path, number, values)


def _split_lines(path: Path) -> Iterator[tuple[int, str, list[str]]]:
    """Yield line number, word and numbers.

    A line is a word and its numbers, with single spaces. A first line with two integers is
    word2vec's header and is skipped. Some words in GloVe 840B contain spaces, so the numbers are
    counted from the end of the line.
    """
    dim = 0
    for number, line in numbered_lines(path):
        if not dim:
            if number == 1 and _is_header(line):
                continue
            dim = line.rstrip(" ").count(" ")
        word, *values = line.rstrip(" ").rsplit(" ", dim)
        if len(values) != dim or not dim or SURPLUS.search(word):
            problem = f"expected a word and {dim or 'its'} numbers, not {line[:40]!r}"
            raise DataError(path, number, problem)
        yield number, word, values


def _is_header(line: str) -> bool:
    parts = line.split()
    return len(parts) == 2 and all(part.isdigit() for part in parts)


def _vector(path: Path, number: int, values: list[str]) -> Vector:
    try:
        vector = np.array(values, dtype=np.float32)
    except ValueError as error:
        raise DataError(path, number, str(error)) from error
    if not np.isfinite(vector).all():
        raise DataError(path, number, "a value is not a finite number")
    return vector


class _Sentences:
    """Sentences that can be read once per epoch."""

    def __init__(self, read: Callable[[], Iterable[list[str]]], lowercase: bool) -> None:
        self.read, self.lowercase = read, lowercase

    def __iter__(self) -> Iterator[list[str]]:
        for sentence in self.read():
            yield [word.lower() for word in sentence] if self.lowercase else list(sentence)


def train_vectors(
    path: Path,
    read: Callable[[], Iterable[list[str]]],
    dim: int,
    lowercase: bool,
    min_count: int,
    window: int,
    epochs: int,
) -> Path:
    """Train skip-gram vectors on a text, write them in GloVe's format, and return the path.

    An undamaged file is kept: name it after the text and these settings.

    Args:
        path: The file to write; its checksum is beside it.
        read: Opens the sentences of the text, once per pass.
        dim: Size of the vectors.
        lowercase: Lowercase the words.
        min_count: Words that occur less often get no vector.
        window: Words on each side that a word predicts.
        epochs: Passes over the text.
    """
    folder, checksum = path.parent, f"{path.name}.{CHECKSUMS}"
    folder.mkdir(parents=True, exist_ok=True)
    with file_lock(f"{path}.lock", "trains the same word vectors"):
        damage = find_damage(folder, checksum)
        if damage is None:
            return path
        if path.exists():
            log.warning("training word vectors again: %s", damage)
        from gensim.models import Word2Vec  # slow to import, and few runs need it

        sentences = _Sentences(read, lowercase)
        # One worker and a hash that is stable across processes: the same text gives the same
        # vectors.
        model = Word2Vec(
            vector_size=dim,
            window=window,
            min_count=min_count,
            sg=1,
            workers=1,
            seed=1,
            hashfxn=lambda word: zlib.crc32(str(word).encode()),
        )
        model.build_vocab(sentences)
        if not model.wv.index_to_key:
            raise UserError(f"words.min_count={min_count}: no word of the text occurs that often")
        model.train(sentences, total_examples=model.corpus_count, epochs=epochs)
        with (
            replace_file(path) as unfinished,
            unfinished.open("w", encoding="utf-8", newline="\n") as file,
        ):
            for word, vector in zip(model.wv.index_to_key, model.wv.vectors, strict=True):
                file.write(f"{word} {' '.join(f'{value:.6g}' for value in vector)}\n")
        write_checksums(folder, [path], checksum)
    return path
