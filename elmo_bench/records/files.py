"""Writing files and folders into place: a reader sees the old one or the new one, never a part.

What is written goes to an unfinished neighbor first, which is renamed when it is complete and on
the disk. A writer that was killed leaves its neighbor behind; the next writer of the same file
removes it.
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
    """Give a path to write to; what was written takes the place of `path` if no error occurs."""
    unfinished = _unfinished(path)
    try:
        yield unfinished
        _flush(unfinished)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Give an empty folder to fill, which takes the place of `folder` if no error occurs."""
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
    """Replace a text file in one step, also when several processes write it at once."""
    with replace_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")


def write_gzip(path: Path, content: bytes) -> None:
    """Replace a .gz file in one step; the same content gives the same bytes."""
    with replace_file(path) as unfinished:
        unfinished.write_bytes(gzip.compress(content, mtime=0))


def _unfinished(path: Path) -> Path:
    """A new name beside `path`, after removing what dead processes of this machine left there."""
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
    """Wait until the file is on the disk, so that a power cut cannot leave its name without it."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
