"""Dataclasses as JSON files, for the records of runs and of analyses."""

import json
import logging
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from elmo_bench.records.atomic import write_text
from elmo_bench.records.digest import digest

Kind = TypeVar("Kind")

CHECKSUM = "checksum"  # of everything else in the file
log = logging.getLogger(__name__)


def write_json(path: Path, record: Any) -> Path:
    """Write a dataclass atomically; the same values give the same bytes."""
    values = asdict(record)
    del values["file"]  # where it was read from is not part of it
    plain = json.loads(json.dumps(values))  # as it will be read
    text = json.dumps(
        {**plain, CHECKSUM: digest(plain)}, indent=1, sort_keys=True, ensure_ascii=False
    )
    write_text(path, text + "\n")
    return path


def read_as(kind: type[Kind], path: Path, version: int) -> Kind:
    """Read a dataclass; a ValueError says what is wrong with the file.

    Args:
        kind: The dataclass; keys that it does not have are ignored. Its `file` is the path.
        path: The file.
        version: The newest version of the format that this code knows.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: not a readable JSON file ({error})") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path}: not a JSON object but a {type(content).__name__}")
    checksum = content.pop(CHECKSUM, None)  # older records have none
    if checksum is not None and checksum != digest(content):
        raise ValueError(
            f"{path}: damaged, or changed by hand; to use it as it is, delete its {CHECKSUM}"
        )
    if content.get("version", 0) > version:
        raise ValueError(
            f"{path}: written by a newer elmo_bench (record version {content['version']}, "
            f"this one reads up to {version}); update elmo_bench"
        )
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    try:
        values = {key: value for key, value in content.items() if key in known}
        return kind(**values | {"file": path})
    except TypeError as error:
        raise ValueError(f"{path}: not a record ({error})") from error


def source_of(file: Path | None) -> str:
    """Whose record a file is: of those in results/reference, which ship, or the user's own."""
    shipped = file is not None and file.resolve().parents[1].name == "reference"
    return "reference" if shipped else "yours"


def read_all(read: Callable[[Path], Kind], directory: Path) -> list[Kind]:
    """Read the .json files of a folder by name; a damaged one is logged and skipped."""
    found = []
    for path in sorted(directory.glob("*.json")):
        try:
            found.append(read(path))
        except ValueError as error:
            log.warning("skipped a damaged record: %s", error)
    return found
