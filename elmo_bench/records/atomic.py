"""Atomic writes of files and folders: a reader sees the old one or the new one, never a part.

Content first goes to an unfinished file beside the target, which is renamed once it is complete
and on disk. A writer that is killed leaves its unfinished file behind; the next writer of the same
target removes it.
"""

import gzip
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

_ENDING = ".unfinished"
_numbers = count()  # a process may write one file from several threads


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to; what was written replaces `path` if no error occurs."""
    unfinished = _unfinished(path)
    try:
        yield unfinished
        _flush(unfinished)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to fill, which replaces `folder` if no error occurs."""
    unfinished = _unfinished(folder)
    unfinished.mkdir()
    try:
        yield unfinished
        for path in unfinished.rglob("*"):
            if path.is_file():
                _flush(path)
        if folder.exists():  # a folder with files in it cannot be replaced in one step
            old = _unfinished(folder)
            os.rename(folder, old)
            os.rename(unfinished, folder)
            shutil.rmtree(old)
        else:
            os.rename(unfinished, folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Replace a text file atomically, even when several processes write it at once."""
    with replace_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")


def write_gzip(path: Path, content: bytes) -> None:
    """Replace a .gz file atomically; the same content gives the same bytes."""
    with replace_file(path) as unfinished:
        unfinished.write_bytes(gzip.compress(content, mtime=0))


def _unfinished(path: Path) -> Path:
    """Return a new name beside `path`; leftovers of dead processes on this machine are removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    prefix, host = f".{path.name}.", socket.gethostname()
    for leftover in path.parent.glob(f"{_escaped(prefix)}*{_ENDING}"):
        owner, _, rest = leftover.name.removeprefix(prefix).rpartition("@")
        if owner == host and not _is_alive(rest.split("-")[0]):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink(missing_ok=True)
    return path.with_name(f"{prefix}{host}@{os.getpid()}-{next(_numbers)}{_ENDING}")


def _escaped(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def _is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):  # another user's process, or a name that is not ours
        return True
    return True


def _flush(path: Path) -> None:
    """Wait until the file is on disk, so that a power failure cannot leave a name without data."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
