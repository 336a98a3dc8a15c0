"""Layers of texts of any size, computed a few thousand tokens at a time and kept on disk."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from jaxtyping import Float, Float16
from rich.console import Console
from rich.progress import track

from elmo_bench.errors import UserError
from elmo_bench.features.encoder import Encoder

CHUNK_TOKENS = 8192  # in memory at a time: 100 MB of layers at the original size

Item = TypeVar("Item")


def shown(items: Sequence[Item]) -> Iterable[Item]:
    """Iterate over the items with a progress bar on stderr, away from printed results."""
    console = Console(stderr=True)
    hidden = not console.is_terminal  # a notebook or a file
    return track(items, "Reading sentences", transient=True, console=console, disable=hidden)


def stream_layers(
    bilm: Encoder, items: Iterable[Item], tokens: Callable[[Item], Sequence[str]]
) -> Iterator[tuple[Item, Float[np.ndarray, "layer time dim"]]]:
    """Yield each item, in order, with the layers of its tokens; items do not see each other."""
    for chunk in _chunks(items, tokens):
        stacks = bilm.embed([tokens(item) for item in chunk])
        for item, stack in zip(chunk, stacks, strict=True):
            yield item, stack.cpu().numpy()


def _chunks(items: Iterable[Item], tokens: Callable[[Item], Sequence[str]]) -> Iterator[list[Item]]:
    chunk: list[Item] = []
    size = 0
    for item in items:
        chunk.append(item)
        size += len(tokens(item))
        if size >= CHUNK_TOKENS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def write_vectors(
    path: Path,
    shape: tuple[int, int, int],
    blocks: Iterable[Float[np.ndarray, "layer _row dim"]],
) -> Float16[np.ndarray, "layer row dim"]:
    """Write blocks of rows in sequence and return the file memory-mapped.

    Args:
        path: The .npy file to write.
        shape: Total number of layers, rows and dimensions.
        blocks: Consecutive rows, each block with all layers.
    """
    needed, free = 2 * int(np.prod(shape)), shutil.disk_usage(path.parent).free
    if needed > free:
        raise OSError(
            f"The vectors take {needed / 1e9:,.2f} GB in {path.parent}, but {free / 1e9:,.2f} GB "
            f"are free; choose a folder on another disk with --cache."
        )
    if 0 in shape:
        raise UserError("There are no words to compute vectors for.")
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=shape)
    row = end = 0
    for block in blocks:
        end = row + block.shape[1]
        if end > shape[1]:
            break
        file[:, row:end] = block
        if not np.isfinite(file[:, row:end]).all():
            raise UserError("The layers contain values that float16 cannot hold.")
        row = end
    if row != shape[1] or end != row:
        raise UserError(f"Expected {shape[1]} rows but got {end}; did the file change meanwhile?")
    file.flush()
    return np.load(path, mmap_mode="r")
