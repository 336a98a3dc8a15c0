"""Checksums of the files that we keep, stored beside them and compared when they are read.

SHA-256, over the whole file at every opening: 2 GB take a second. Nothing is remembered here, since
a bad disk does not change a file's time.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from elmo_bench.errors import UserError
from elmo_bench.records.atomic import write_text
from elmo_bench.records.digest import content_hash

CHECKSUMS = "checksums.json"  # file -> SHA-256


class DamagedError(UserError):
    """A file that we wrote is not as we wrote it; the message says what to do."""


def write_checksums(
    folder: Path, files: Iterable[Path] | None = None, name: str = CHECKSUMS
) -> None:
    """Write the checksums of files into their folder.

    Args:
        folder: The folder.
        files: Those below it that count; all by default.
        name: Of the file of checksums.
    """
    if files is None:
        files = (path for path in folder.rglob("*") if path.is_file())
    sums = {path.relative_to(folder).as_posix(): content_hash(path) for path in sorted(files)}
    write_text(folder / name, _text(sums))


def find_damage(folder: Path, name: str = CHECKSUMS) -> str | None:
    """What is wrong with the files that a folder has checksums of; None if they are intact."""
    try:
        for file, checksum in _read(folder / name).items():
            if content_hash(folder / file) != checksum:
                return f"{folder / file} has changed"
    except OSError as error:
        return f"{error.filename} cannot be read ({error.strerror})"
    except DamagedError as error:
        return str(error)
    return None


def check_file(path: Path, remedy: str) -> None:
    """Refuse a file that is not as its folder's checksums say; one that they lack is accepted.

    Args:
        path: The file.
        remedy: What the user can do, for the message.
    """
    sums = path.with_name(CHECKSUMS)
    if not (sums.exists() and path.exists()):
        return
    try:
        checksum = _read(sums).get(path.name)
    except DamagedError as error:
        raise DamagedError(f"{error}; {remedy}") from error
    if checksum is not None and checksum != content_hash(path):
        raise DamagedError(f"{path} has changed since it was written; {remedy}")


def _read(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8")
        sums = json.loads(text)
    except ValueError as error:  # not JSON, or not text
        raise DamagedError(f"{path} has changed") from error
    if not isinstance(sums, dict) or not sums or text != _text(sums):
        raise DamagedError(f"{path} has changed")
    return sums


def _text(sums: dict[str, str]) -> str:
    return json.dumps(sums, indent=1) + "\n"
