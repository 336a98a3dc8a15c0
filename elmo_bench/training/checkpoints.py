"""Checkpoints of trainings: written atomically, sealed with a checksum, and known by identity.

A sealed file is what `torch.save` writes, followed by a mark and the SHA-256 of all before it;
`torch.load` reads it as any other.
"""

import hashlib
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, cast

import torch
from pytorch_lightning.plugins import CheckpointIO

from elmo_bench.records.atomic import replace_file
from elmo_bench.records.checksums import DamagedError
from elmo_bench.records.digest import first_difference
from elmo_bench.records.reading import reading

MARK = b"\0elmo_bench SHA-256\0"
_SEAL_BYTES = len(MARK) + hashlib.sha256().digest_size
_PIECE = 1 << 20

log = logging.getLogger(__name__)


class SealedCheckpoints(CheckpointIO):
    """How Lightning writes and reads checkpoints: a reader finds a complete one or none.

    Lightning's own way copies from the folder for temporary files, so a kill can leave a part.

    Args:
        identity: What the training computes; it becomes part of every checkpoint.
        keep: Names of files whose previous version is kept too.
    """

    def __init__(self, identity: Mapping[str, Any], keep: tuple[str, ...]) -> None:
        self.identity, self.keep = dict(identity), keep

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None
    ) -> None:
        """Write a checkpoint with identity and seal."""
        path = Path(path)
        keep = previous(path) if path.name in self.keep else None
        made = {"identity": self.identity, "torch_version": str(torch.__version__)}
        with replace_file(path, keep) as unfinished, unfinished.open("wb") as file:
            sealing = _Sealing(file)
            try:
                torch.save({**checkpoint, **made}, cast(IO[bytes], sealing))
            except RuntimeError:
                if sealing.problem is None:
                    raise
            if sealing.problem is not None:
                raise sealing.problem
            file.write(MARK + sealing.digest.digest())

    def load_checkpoint(
        self,
        path: str | Path,
        map_location: Callable[..., Any] | None = None,
        weights_only: bool | None = True,
    ) -> dict[str, Any]:
        """Read a checkpoint; a damaged one is an error. Nothing but values is ever unpickled."""
        return read_checkpoint(Path(path))

    def remove_checkpoint(self, path: str | Path) -> None:
        """Remove a checkpoint that is no longer wanted."""
        Path(path).unlink(missing_ok=True)


class _Sealing:
    """A file that computes the checksum of what is written, so that no copy in memory is needed.

    torch hides why a write failed, so the reason is kept.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.digest = file, hashlib.sha256()
        self.problem: OSError | None = None

    def write(self, piece: Any) -> int:
        try:
            self.file.write(piece)
        except OSError as problem:
            self.problem = problem
            return 0  # which torch reports as an error, at a place where it can
        self.digest.update(piece)
        return len(piece)

    def flush(self) -> None:
        self.file.flush()


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Everything in a checkpoint, in memory of the CPU; a damaged one is an error."""
    if not is_intact(path):
        raise DamagedError(f"{path} is damaged: its content is not what was written")
    with reading(path):
        found: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return found


def find_checkpoint(path: Path, identity: Mapping[str, Any]) -> tuple[Path | None, str]:
    """The file to resume from, or the one before; and in what it belongs to another training.

    Damaged files are set aside. Returns None if there is no file that is intact.
    """
    for candidate in (path, previous(path)):
        if not candidate.exists():
            continue
        if not is_intact(candidate):
            set_aside(candidate)
            continue
        with reading(candidate):
            stored = torch.load(candidate, map_location="cpu", weights_only=True, mmap=True)
        if stored["torch_version"] != str(torch.__version__):
            log.warning(
                "%s was written with torch %s and is resumed with %s; its results may be those of "
                "neither", candidate, stored["torch_version"], torch.__version__,
            )  # fmt: skip
        return candidate, first_difference(stored["identity"], identity)
    return None, ""


def previous(path: Path) -> Path:
    """Where the checkpoint before the newest is kept."""
    return path.with_name(f"{path.stem}.previous{path.suffix}")


def set_aside(path: Path) -> None:
    """Rename a damaged checkpoint, so that it can be looked at but is not used."""
    aside = path.with_name(f"{path.name}.damaged")
    try:
        os.replace(path, aside)
    except FileNotFoundError:  # another process of the same training has done it
        return
    log.warning("%s is damaged; it is set aside as %s", path, aside.name)


def is_intact(path: Path) -> bool:
    """Whether a checkpoint is complete and unchanged since it was written."""
    size = path.stat().st_size
    with path.open("rb") as file:
        computed = _sha256(file, size - _SEAL_BYTES)
        return size > _SEAL_BYTES and file.read() == MARK + computed


def _sha256(file: Any, length: int) -> bytes:
    digest = hashlib.sha256()
    while length > 0 and (piece := file.read(min(_PIECE, length))):
        digest.update(piece)
        length -= len(piece)
    return digest.digest()
