"""An on-disk index of the vectors of one word's occurrences in a file, or of every word's.

A cache folder holds vectors.npy (layer, occurrence, dim) in float16, positions.npy (line,
position) of each occurrence, and about.json. Building reads the file twice, first to count and
then to compute, and keeps in memory a few thousand tokens and the positions (16 bytes each).
Searching memory-maps vectors.npy and reads it in blocks, so millions of tokens need disk space
rather than memory.
"""

import hashlib
import heapq
import json
import shutil
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from jaxtyping import Float, Float16, Int64
from rich.console import Console
from rich.progress import Progress

from elmo_bench.analysis.stream import stream_layers, write_vectors
from elmo_bench.analysis.text import Line, read_lines
from elmo_bench.errors import UserError
from elmo_bench.features.encoder import Encoder
from elmo_bench.records.atomic import replace_folder
from elmo_bench.records.checksums import find_damage, write_checksums
from elmo_bench.records.digest import content_hash
from elmo_bench.records.lock import file_lock

BLOCK_ROWS = 16_384  # searched at a time

Label = TypeVar("Label")


class Match(NamedTuple):
    """An occurrence, as its row in the index, and its cosine with the query."""

    similarity: float
    row: int


@dataclass(frozen=True)
class Index:
    """Occurrences in a file and their vectors at some layers."""

    layers: list[int]
    vectors: Float16[np.ndarray, "layer row dim"]
    positions: Int64[np.ndarray, "row 2"]  # line number in the file, token in the line

    def __len__(self) -> int:
        return len(self.positions)

    def rows(self, line: int, position: int) -> list[int]:
        """Return the row of an occurrence as a list, empty if it is not in the index."""
        return np.flatnonzero((self.positions == (line, position)).all(axis=1)).tolist()

    def nearest(
        self, vector: Float[np.ndarray, " dim"], layer: int, top: int, center: bool = False
    ) -> list[Match]:
        """Return the occurrences with the greatest cosine, nearest first.

        With `center`, the mean of all occurrences, which is what they share, is subtracted first.
        """
        found: list[tuple[float, int]] = []
        middle = self.mean(layer) if center else np.zeros_like(vector)
        for start, block in self._blocks(layer):
            rows = range(start, start + len(block))
            similarities = cosines(block - middle, vector - middle)
            found = merge_best(found, similarities, rows.__getitem__, top)
        return [Match(similarity, row) for similarity, row in found]

    def mean(self, layer: int) -> Float[np.ndarray, " dim"]:
        """Return the mean vector of all occurrences."""
        total = sum(block.sum(axis=0, dtype=np.float64) for _, block in self._blocks(layer))
        return np.asarray(total / len(self), dtype=np.float32)

    def _blocks(self, layer: int) -> Iterator[tuple[int, Float[np.ndarray, "_row dim"]]]:
        """Yield blocks of consecutive rows as float32, each with the index of its first row."""
        rows = self.vectors[self.layers.index(layer)]
        for start in range(0, len(self), BLOCK_ROWS):
            yield start, rows[start : start + BLOCK_ROWS].astype(np.float32)


def cosines(
    rows: Float[np.ndarray, "row dim"], vector: Float[np.ndarray, " dim"]
) -> Float[np.ndarray, " row"]:
    """Cosine of each row with a vector; 0 where a vector is zero."""
    sizes = np.linalg.norm(rows, axis=1) * np.linalg.norm(vector)
    return rows @ vector / np.maximum(sizes, 1e-12)


def merge_best(
    best: Iterable[tuple[float, Label]],
    scores: Float[np.ndarray, " row"],
    label: Callable[[int], Label],
    top: int,
) -> list[tuple[float, Label]]:
    """Merge the best so far with a block, best first; ties go to the earlier item."""
    chosen: Sequence[int] = range(len(scores))
    if top < len(scores):
        # Not argpartition alone: among ties at the border it would keep arbitrary ones.
        border = np.partition(scores, -top)[-top]
        chosen = np.flatnonzero(scores >= border).tolist()
    new = [(float(scores[i]), label(i)) for i in chosen]
    return heapq.nlargest(top, [*best, *new], key=lambda pair: pair[0])


def open_index(
    bilm: Encoder, path: Path, word: str | None, layers: Sequence[int], cache: Path
) -> Index:
    """Open the index of a file; build it if this biLM, content, word and layers have none yet.

    Args:
        bilm: The biLM that computes the layers.
        path: Text, as `read_lines` reads it.
        word: The word whose occurrences are indexed; None indexes every word.
        layers: The layers to store for each occurrence.
        cache: The folder of indexes.
    """
    wanted = None if word is None else word.casefold()
    about = {
        "version": 1,
        "fingerprint": bilm.fingerprint(),
        "content": content_hash(path),
        "senses": ".jsonl" in path.suffixes,
        "word": wanted,
        "layers": list(layers),
    }
    key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:24]
    folder = cache / key
    cache.mkdir(parents=True, exist_ok=True)
    with file_lock(cache / f"{key}.lock", "indexes the same text"):
        found = _load(folder, list(layers))
        if found is None:
            shutil.rmtree(folder, ignore_errors=True)
            _build(bilm, path, wanted, list(layers), folder, json.dumps(about, indent=1))
            found = _load(folder, list(layers))
    assert found is not None
    return found


def _load(folder: Path, layers: list[int]) -> Index | None:
    """Return None if the folder is missing or its files do not match."""
    if find_damage(folder):
        return None
    try:
        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        positions = np.load(folder / "positions.npy")
    except (OSError, ValueError, EOFError):
        return None
    if vectors.shape[:2] != (len(layers), len(positions)):
        return None
    return Index(layers, vectors, positions)


def _build(
    bilm: Encoder, path: Path, word: str | None, layers: list[int], folder: Path, about: str
) -> None:
    flat = array("q")  # 16 bytes per occurrence
    for line, found in _occurrences(path, word):
        for position in found:
            flat.extend((line.number, position))
    if not flat:
        raise UserError(f"{path}: the word {word!r} does not occur" if word else f"{path} is empty")
    positions = np.array(flat, dtype=np.int64).reshape(-1, 2)
    shape = (len(layers), len(positions), bilm.output_dim)
    with replace_folder(folder) as unfinished:
        console = Console(stderr=True)
        hidden = not console.is_terminal  # a notebook or a file
        with Progress(transient=True, console=console, disable=hidden) as progress:
            task = progress.add_task(f"Reading {path.name}", total=len(positions))

            def advance(block: np.ndarray) -> np.ndarray:
                progress.advance(task, block.shape[1])
                return block

            blocks = map(advance, _blocks(bilm, path, word, layers))
            write_vectors(unfinished / "vectors.npy", shape, blocks)
        np.save(unfinished / "positions.npy", positions)
        (unfinished / "about.json").write_text(about + "\n", encoding="utf-8")
        write_checksums(unfinished)


def _occurrences(path: Path, word: str | None) -> Iterator[tuple[Line, list[int]]]:
    for line in read_lines(path):
        positions = line.positions(word) if word is not None else list(range(len(line.tokens)))
        if positions:
            yield line, positions


def _blocks(
    bilm: Encoder, path: Path, word: str | None, layers: list[int]
) -> Iterator[Float[np.ndarray, "layer _row dim"]]:
    """Yield the vectors of each sentence's occurrences; sentences without any are skipped."""
    occurrences = _occurrences(path, word)
    for (_, positions), stack in stream_layers(bilm, occurrences, lambda item: item[0].tokens):
        yield stack[layers][:, positions]
