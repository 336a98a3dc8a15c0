"""A disk cache of frozen layers, computed once per distinct segment, encoder and dtype."""

import json
import logging
import os
import random
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from jaxtyping import Float, UInt8
from pydantic import Field
from rich.console import Console
from rich.progress import Progress
from torch import Tensor

from elmo_bench.bilm.extraction import chunks
from elmo_bench.config.bilm_settings import Architecture
from elmo_bench.config.fields import Size
from elmo_bench.data.example import Segment
from elmo_bench.data.files import DataError
from elmo_bench.errors import UserError
from elmo_bench.features.block_store import KEY_BYTES, BlockStore
from elmo_bench.records.atomic import write_text
from elmo_bench.records.lock import file_lock
from elmo_bench.records.reading import checked, read_object

log = logging.getLogger(__name__)

Embed = Callable[[list[Segment]], Iterable[Tensor]]  # one (layer, time, dim) per segment

# How layers are stored; they are read as float32, whatever the dtype.
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
CHUNK_TOKENS = 8192  # computed and written at a time

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CacheInfo:
    """What a cache contains: the layers of one encoder in one dtype."""

    fingerprint: Annotated[str, Field(pattern=r"^\w+$")]  # names the folder
    dtype: str
    num_layers: Annotated[int, Field(ge=1, le=1000)]
    dim: Size

    @property
    def token_bytes(self) -> int:
        """Size of all layers of one token."""
        return self.num_layers * self.dim * DTYPES[self.dtype].itemsize


class FeatureCache:
    """The layers of segments by what they depend on, as a rule the segment's tokens alone.

    Several processes may fill and read a cache at once. Damaged layers count as missing and are
    computed again.

    Args:
        root: The folder of all caches.
        info: Which encoder the layers are from, and their dtype and shape.
        key: What the layers of a segment depend on, besides the encoder; None: its tokens only.
    """

    def __init__(
        self, root: Path, info: CacheInfo, key: Callable[[Segment], bytes] | None = None
    ) -> None:
        if info.dtype not in DTYPES:
            raise UserError(
                f"cache_dtype is {info.dtype!r}; it must be one of {', '.join(DTYPES)}."
            )
        self.info = info
        self.key = key or segment_key
        # With the version of the code, which may compute other layers from the same weights.
        self.folder = root / f"{info.fingerprint[:16]}-v{Architecture.version}-{info.dtype}"
        self.store = BlockStore(self.folder, info.num_layers)

    def missing(self, segments: Iterable[Segment], layers: Sequence[int]) -> list[Segment]:
        """The distinct segments for which these layers are missing or damaged."""
        self.store.refresh()
        distinct = dict.fromkeys(segments)
        return [
            segment for segment in distinct if self.store.get(self.key(segment), layers) is None
        ]

    def num_bytes(self, segments: Iterable[Segment]) -> int:
        """Size on disk of all layers of these segments."""
        return self.info.token_bytes * sum(map(len, segments))

    def fill(self, segments: Iterable[Segment], layers: Sequence[int], embed: Embed) -> int:
        """Compute and write what is missing; return the number of segments that were missing.

        Args:
            segments: May contain duplicates.
            layers: The layers that will be read, and so are checked; all layers are written.
            embed: Computes the layers of each of a few segments.
        """
        segments = list(dict.fromkeys(segments))
        missing = self.missing(segments, layers)
        log.info(
            "frozen layers: %s segments, %s of them to compute (%.0f MB)",
            *(f"{len(segments):,}", f"{len(missing):,}", self.num_bytes(missing) / 1e6),
        )
        if not missing:
            return 0
        self._prepare(missing)
        console = Console()
        # Elsewhere than on a terminal it would leave an empty line.
        hidden = not console.is_terminal
        with Progress(console=console, transient=True, disable=hidden) as progress:
            task = progress.add_task("Frozen layers", total=sum(map(len, missing)))
            for chunk in _chunks(missing):
                self.store.refresh()  # another process may have been faster
                new = [segment for segment in chunk if self.key(segment) not in self.store.entries]
                if new:
                    stacks = zip(new, embed(new), strict=True)
                    self.store.append({self.key(s): self._parts(s, stack) for s, stack in stacks})
                progress.advance(task, sum(map(len, chunk)))
        return len(missing)

    def fill_in_order(
        self, segments: Sequence[Segment], layers: Sequence[int], embed: Embed
    ) -> int:
        """Like `fill`, for layers that depend on earlier segments: if any is missing, all are read.

        Args:
            segments: Distinct, in order.
            layers: The layers that will be read, and so are checked; all layers are written.
            embed: Computes the layers of all segments, one after the other.
        """
        missing = set(self.missing(segments, layers))
        if missing:
            self._prepare(list(missing))
            stacks = iter(embed(list(segments)))
            with Progress(transient=True) as progress:
                task = progress.add_task("Frozen layers", total=sum(map(len, segments)))
                for chunk in chunks(segments, CHUNK_TOKENS):
                    found = zip(chunk, islice(stacks, len(chunk)), strict=True)
                    new = {self.key(s): self._parts(s, x) for s, x in found if s in missing}
                    if new:
                        self.store.append(new)
                    progress.advance(task, sum(map(len, chunk)))
        return len(missing)

    def read(self, segment: Segment, layers: Sequence[int]) -> Float[Tensor, "layer time dim"]:
        """Some layers of a segment."""
        return self.read_batch([segment], layers)[:, 0]

    def read_batch(
        self, segments: Sequence[Segment], layers: Sequence[int]
    ) -> Float[Tensor, "layer segment time dim"]:
        """Some layers of a few segments, padded with zeros."""
        shape = (len(layers), len(segments), max(map(len, segments)), self.info.dim)
        batch = torch.zeros(shape)
        picked = slice(None) if len(layers) == self.info.num_layers else list(layers)
        for row, segment in enumerate(segments):
            block = self.store.get(self.key(segment), layers)
            if block is None:
                problem = f"lacks the layers of {_shown(segment)}, or they are damaged"
                raise DataError(self.folder, None, f"{problem}; the same command computes them")
            batch[:, row, : len(segment)] = self._stack(block)[picked]
        return batch

    def damaged(self) -> int:
        """Read every entry and return the number of damaged ones."""
        layers = range(self.info.num_layers)
        return sum(self.store.get(key, layers) is None for key in list(self.store.entries))

    def _stack(self, block: UInt8[np.ndarray, "layer byte"]) -> Tensor:
        stack = torch.from_numpy(block).view(DTYPES[self.info.dtype])
        return stack.unflatten(1, (stack.shape[1] // self.info.dim, self.info.dim))

    def _parts(self, segment: Segment, stack: Tensor) -> list[bytes]:
        shape = (self.info.num_layers, len(segment), self.info.dim)
        if stack.shape != shape:
            raise UserError(f"expected layers of shape {shape}, got {tuple(stack.shape)}")
        stored = stack.detach().cpu().to(DTYPES[self.info.dtype]).contiguous()
        if not stored.isfinite().all():
            raise UserError(f"The layers of {_shown(segment)} are not finite in {self.info.dtype}.")
        return [layer.view(torch.uint8).numpy().tobytes() for layer in stored]

    def _prepare(self, missing: list[Segment]) -> None:
        """Create the folder and check that the disk has room for the missing layers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        needed, free = self.num_bytes(missing), shutil.disk_usage(self.folder).free
        if needed > free:
            raise OSError(
                f"The frozen layers of {len(missing):,} segments take {needed / 1e9:,.2f} GB in "
                f"{self.folder}, but {free / 1e9:,.2f} GB are free. Set cache_dtype=float16, set "
                f"paths.cache to another disk, or compute them for every batch: features=online."
            )
        with file_lock(self.folder / "lock", "writes frozen layers"):
            write_text(self.folder / "about.json", json.dumps(asdict(self.info)))


def find_caches(root: Path) -> list[FeatureCache]:
    """All caches under a folder; one that cannot be read is logged and skipped."""
    caches = []
    for about in sorted(root.glob("*/about.json")):
        try:
            cache = FeatureCache(root, checked(CacheInfo, read_object(about), about))
            if cache.folder.name != about.parent.name:
                raise UserError(f"{about}: describes {cache.folder.name}, not its own folder")
            caches.append(cache)
        except UserError as error:
            log.warning("skipped a damaged cache: %s", error)
    return caches


def segment_key(segment: Segment, before: bytes = b"") -> bytes:
    """The key of a segment, after all that `before` stands for."""
    # JSON distinguishes ["a b"] from ["a", "b"], whatever the tokens contain.
    return blake2b(before + json.dumps(segment).encode(), digest_size=KEY_BYTES).digest()


def chain_keys(stream: Iterable[Segment]) -> dict[Segment, bytes]:
    """Keys of the distinct segments of a stream, each of which stands for all before it too."""
    keys: dict[Segment, bytes] = {}
    key = b"stream"  # so that the first one differs from a segment that is read by itself
    for segment in stream:
        keys[segment] = key = segment_key(segment, key)
    return keys


def _chunks(segments: list[Segment]) -> Iterator[list[Segment]]:
    """Group segments of similar length, in an order that differs between processes.

    Processes that fill the same cache at once then share the work instead of duplicating it.
    """
    chunks: list[list[Segment]] = []
    num_tokens = CHUNK_TOKENS
    for segment in sorted(segments, key=len):
        if num_tokens >= CHUNK_TOKENS:
            chunks.append([])
            num_tokens = 0
        chunks[-1].append(segment)
        num_tokens += len(segment)
    random.Random(os.getpid()).shuffle(chunks)
    return iter(chunks)


def _shown(segment: Segment) -> str:
    text = " ".join(segment)
    return repr(text if len(text) <= 60 else f"{text[:60]}...")
