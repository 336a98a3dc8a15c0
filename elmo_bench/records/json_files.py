"""Dataclasses as JSON files, for the records of runs and of analyses."""

import json
import logging
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from elmo_bench.errors import UserError
from elmo_bench.records.atomic import write_text
from elmo_bench.records.digest import digest
from elmo_bench.records.reading import checked, read_object
from elmo_bench.records.visible import visible

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
    """Read a dataclass; a UserError says what is wrong with the file.

    Args:
        kind: The dataclass; keys that it does not have are ignored. Its `file` is the path.
        path: The file.
        version: The newest version of the format that this code knows.
    """
    content = read_object(path)
    checksum = content.pop(CHECKSUM, None)  # older records have none
    if checksum is not None and checksum != digest(content):
        raise UserError(
            f"{path}: damaged, or changed by hand; to use it as it is, delete its {CHECKSUM}"
        )
    found = content.get("version", 0)
    if isinstance(found, int) and found > version:
        raise UserError(
            f"{path}: written by a newer elmo_bench (record version {content['version']}, "
            f"this one reads up to {version}); update elmo_bench"
        )
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    values = {key: value for key, value in content.items() if key in known}
    return checked(kind, {**values, "file": path}, path)


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
        except UserError as error:
            log.warning("skipped a damaged record: %s", visible(str(error)))
    return found
