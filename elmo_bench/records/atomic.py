"""Atomic writes of files and folders: a reader sees the old one or the new one, never a part.

Content first goes to an unfinished file beside the target, on the same file system, which is
renamed once it is complete and on disk. A writer that is killed leaves its unfinished file behind;
the next writer of the same target, or the next `remove_leftovers` of the folder, removes it.
"""

import ctypes
import errno
import gzip
import os
import shutil
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from elmo_bench.errors import system_error

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ENDING = ".unfinished"
_ABANDONED = 24 * 3600.0  # seconds after which another machine's unfinished file is a dead one's
_numbers = count()  # a process may write one file from several threads


@contextmanager
def replace_file(path: Path, keep: Path | None = None) -> Iterator[Path]:
    """Yield a path to write to; what was written replaces `path` if no error occurs.

    Args:
        path: The file to replace.
        keep: Where the replaced file is kept; in between, for a moment, there is only this one.
    """
    unfinished = _unfinished(path)
    try:
        with naming(path):
            yield unfinished
            _flush(unfinished)
        if keep is not None and path.exists():
            os.replace(path, keep)
        os.replace(unfinished, path)
        _flush(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to fill, which replaces `folder` if no error occurs."""
    unfinished = _unfinished(folder)
    unfinished.mkdir()
    try:
        with naming(folder):
            yield unfinished
            for path in unfinished.rglob("*"):
                _flush(path)
        if folder.exists():
            _exchange(unfinished, folder)  # the old one is removed below
        else:
            os.rename(unfinished, folder)
        _flush(folder.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let the error of a full disk name what was to be written: most name nothing."""
    try:
        yield
    except Exception as error:
        reported = system_error(error)
        if reported is None or reported.errno not in _FULL:
            raise
        raise OSError(reported.errno, os.strerror(reported.errno), str(path)) from error


def write_text(path: Path, text: str) -> None:
    """Replace a text file atomically, even when several processes write it at once."""
    with replace_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")


def write_gzip(path: Path, content: bytes) -> None:
    """Replace a .gz file atomically; the same content gives the same bytes."""
    with replace_file(path) as unfinished:
        unfinished.write_bytes(gzip.compress(content, mtime=0))


def remove_leftovers(*folders: Path) -> None:
    """Remove what killed writers left in these folders; those that do not exist are skipped."""
    for folder in folders:
        _remove_dead(folder.glob(f".*{_ENDING}"))


def _unfinished(path: Path) -> Path:
    """Return a new name beside `path`; what killed writers of the same path left is removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_dead(path.parent.glob(f"{_escaped(f'.{path.name}.')}*{_ENDING}"))
    owner = f"{socket.gethostname()}@{os.getpid()}-{next(_numbers)}"
    return path.with_name(f".{path.name}.{owner}{_ENDING}")


def _remove_dead(leftovers: Iterable[Path]) -> None:
    for leftover in leftovers:
        owner, _, rest = leftover.name.rpartition("@")
        try:
            if owner.endswith(f".{socket.gethostname()}"):
                dead = not _is_alive(rest.split("-")[0])
            else:  # its processes cannot be seen from here
                dead = time.time() - leftover.stat().st_mtime > _ABANDONED
            if dead:
                shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        except OSError:
            continue  # another process was faster, or it is not ours to remove


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


def _exchange(one: Path, other: Path) -> None:
    """Exchange two folders, in one step where the system can; else `other` is missing in between.

    A folder with files in it cannot be replaced by a plain rename.
    """
    here, exchange = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
    try:
        rename = ctypes.CDLL(None).renameat2
        if rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0:
            return
    except (AttributeError, OSError):
        pass  # not Linux
    aside = _unfinished(other)
    os.rename(other, aside)
    os.rename(one, other)
    os.rename(aside, one)


def _flush(path: Path) -> None:
    """Wait until a file or folder is on disk: a power failure must not leave names without data."""
    try:
        opened = os.open(path, os.O_RDONLY)
    except PermissionError:
        return  # systems other than POSIX do not open folders
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
