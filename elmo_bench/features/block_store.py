"""Blocks of bytes by key, in append-only files.

`blocks.bin` holds the blocks and `index.bin` a fixed-size record for each. Both are appended to
under a lock, so several processes may write and read at once. A block consists of equal parts with
a checksum each, so that a part can be read and checked without the others.
"""

import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import UInt8

from elmo_bench.records.atomic import naming
from elmo_bench.records.lock import file_lock

KEY_BYTES = 16
SEAL = 0xE130BE4C  # XOR of the 32-bit words of an intact record, so a record of zeros is invalid
ALIGNMENT = 64


class Entry(NamedTuple):
    """Where a block is in blocks.bin."""

    offset: int
    size: int
    checksums: list[int]  # CRC-32 of each part


class BlockStore:
    """Blocks by key; a later block replaces an earlier one of the same key.

    A part is checked at every read, which takes about a microsecond per token of a small biLM and
    four of the paper's. A block that is truncated or damaged, or whose record is, counts as
    missing.
    """

    def __init__(self, folder: Path, num_parts: int) -> None:
        self.folder, self.num_parts = folder, num_parts
        self.entries: dict[bytes, Entry] = {}
        self._record = np.dtype(
            [
                ("key", f"V{KEY_BYTES}"),
                ("offset", "<u8"),
                ("size", "<u8"),
                ("checksums", "<u4", (num_parts,)),
                ("seal", "<u4"),
            ]
        )
        self._index, self._blocks = folder / "index.bin", folder / "blocks.bin"
        self._num_read = 0  # records
        self._bytes = np.empty(0, dtype=np.uint8)
        self.refresh()

    def refresh(self) -> None:
        """Read the records appended since the last refresh, by any process."""
        if not self._index.exists():
            return
        skipped = self._num_read * self._record.itemsize
        records = np.fromfile(self._index, self._record, offset=skipped)
        self._num_read += len(records)
        intact = records[_xor(records) == SEAL]
        columns = (intact[name].tolist() for name in ("offset", "size", "checksums"))
        entries = map(Entry._make, zip(*columns, strict=True))
        self.entries.update(zip(intact["key"].tolist(), entries, strict=True))

    def append(self, blocks: dict[bytes, list[bytes]]) -> None:
        """Append blocks, each given as a list of its parts."""
        with naming(self.folder), file_lock(self.folder / "lock", "writes frozen layers"):
            self._cut_unfinished()
            with open(self._blocks, "ab") as file:
                offset = -(-file.tell() // ALIGNMENT) * ALIGNMENT
                file.write(bytes(offset - file.tell()))
                rows = []
                for key, parts in blocks.items():
                    size = sum(map(file.write, parts))
                    rows.append((key, offset, size, [zlib.crc32(part) for part in parts], 0))
                    offset += size
            records = np.array(rows, dtype=self._record)
            records["seal"] = _xor(records) ^ np.uint32(SEAL)
            # After the blocks, so that the index never refers to one that is not written yet.
            with open(self._index, "ab") as file:
                # A writer that crashed may have left a partial record.
                file.truncate(file.tell() // self._record.itemsize * self._record.itemsize)
                file.write(records.tobytes())
        self.refresh()

    def _cut_unfinished(self) -> None:
        """Remove blocks at the end of the file that a killed writer did not live to index."""
        if not (self._index.exists() and self._blocks.exists()):
            return
        records = np.fromfile(self._index, self._record)
        if (_xor(records) == SEAL).all():  # else a damaged record may be that of the last block
            end = max((records["offset"] + records["size"]).tolist(), default=0)
            if self._blocks.stat().st_size > end:
                os.truncate(self._blocks, end)

    def get(self, key: bytes, parts: Sequence[int]) -> UInt8[np.ndarray, "part byte"] | None:
        """All parts of a block, memory-mapped, if it exists and the given parts are intact."""
        entry = self.entries.get(key)
        if entry is None:
            return None
        block = self._view(entry)
        if block is None or any(zlib.crc32(block[p]) != entry.checksums[p] for p in parts):
            del self.entries[key]
            return None
        return block

    def _view(self, entry: Entry) -> UInt8[np.ndarray, "part byte"] | None:
        end = entry.offset + entry.size
        if end > len(self._bytes):
            if not self._blocks.exists() or end > self._blocks.stat().st_size:
                return None
            # Copy-on-write, because torch expects writable memory.
            self._bytes = np.asarray(np.memmap(self._blocks, dtype=np.uint8, mode="c"))
        part_size = entry.size // self.num_parts
        return self._bytes[entry.offset : end].reshape(self.num_parts, part_size)

    def __getstate__(self) -> dict[str, object]:
        # Another process maps the file itself instead of receiving the bytes.
        return {**self.__dict__, "_bytes": np.empty(0, dtype=np.uint8)}


def _xor(records: np.ndarray) -> np.ndarray:
    words = records.view("<u4").reshape(len(records), records.itemsize // 4)
    return np.bitwise_xor.reduce(words, axis=1)
