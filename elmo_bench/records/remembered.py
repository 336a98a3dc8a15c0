"""Values computed from large files, remembered until a file changes."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from elmo_bench.records.atomic import write_text
from elmo_bench.records.digest import content_hash, digest

# A file changed so recently may change again without a visible change of its times.
SETTLED_SECONDS = 2.0


def content_digest(paths: Sequence[Path], memory: Path) -> str:
    """A hash of the files' contents in this order; names and folders do not matter."""
    return remembered("content", paths, memory, lambda: digest(list(map(content_hash, paths))))


def remembered(kind: str, paths: Sequence[Path], memory: Path, compute: Callable[[], str]) -> str:
    """What `compute` makes of some files; computed again when a path, size or time has changed.

    Args:
        kind: What is computed.
        paths: The files that it is computed from.
        memory: The folder of what is remembered.
        compute: Reads the files.
    """
    files = [path.resolve() for path in paths]
    state = [_state(path) for path in files]
    note = memory / f"{digest([kind, *map(str, files)])}.json"
    value = _recall(note, state)
    if value is None:
        value = compute()
        changed = max((max(times) for *_, times in state), default=0) / 1e9
        if state == [_state(path) for path in files] and time.time() - changed > SETTLED_SECONDS:
            write_text(note, json.dumps({"state": state, "value": value, "check": _check(value)}))
    return value


def _state(path: Path) -> list[Any]:
    found = path.stat()
    return [found.st_ino, found.st_size, [found.st_mtime_ns, found.st_ctime_ns]]


def _recall(note: Path, state: list[Any]) -> str | None:
    try:
        stored = json.loads(note.read_text(encoding="utf-8"))
        intact = stored["check"] == _check(stored["value"])
        return str(stored["value"]) if intact and stored["state"] == state else None
    except (OSError, ValueError, LookupError, TypeError):
        return None  # there is none, or it is damaged: computed again


def _check(value: Any) -> str:
    return digest(["remembered", value])
