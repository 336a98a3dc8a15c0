"""Content hashes of files and of anything that can be written as JSON."""

import hashlib
import json
from pathlib import Path
from typing import Any


def digest(content: Any) -> str:
    """A short hash of anything that can be written as JSON."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def content_hash(path: Path) -> str:
    """Hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_identity(path: Path) -> dict[str, str]:
    """A file's name and content hash; its folder does not matter."""
    return {"name": path.name, "sha256": content_hash(path)}


def first_difference(stored: Any, wanted: Any, path: str = "") -> str:
    """The first key at which two settings differ, with both values; empty if there is none."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        for key in dict.fromkeys([*wanted, *stored]):
            below = f"{path}.{key}" if path else key
            found = first_difference(stored.get(key), wanted.get(key), below)
            if found:
                return found
        return ""
    return "" if stored == wanted else f"{path} was {stored} and is {wanted}"
