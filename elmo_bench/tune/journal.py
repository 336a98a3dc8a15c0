"""The file of a study: a journal in Optuna's format whose lines are checked when they are read."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock
from optuna.storages.journal import BaseJournalBackend

from elmo_bench.data.files import DataError

LENGTH = 16  # of a checksum


class Journal(BaseJournalBackend):
    """A JSON object per line, with a checksum of the file up to there.

    Optuna's own backend has no checksums. After a writer was killed, it waits for a lock that
    nobody holds, and appends to the line that was cut off, which makes the file unreadable.

    Args:
        path: The file; an unfinished last line is ignored, and replaced by the next writer.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(f"{path}.lock")
        self._known = [(0, "")]  # after each line: its end in the file, and its checksum
        path.touch()

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """Yield the objects of the lines from a number on, counted from 0."""
        position, checksum = self._known[log_number_from]
        with self._lock, self.path.open("rb") as file:
            file.seek(position)
            lines = file.readlines()
        for number, line in enumerate(lines, start=log_number_from + 1):
            if not line.endswith(b"\n"):
                return
            position += len(line)
            body = line[: -len(_ending(""))]
            checksum = _checksum(checksum, body)
            if line != body + _ending(checksum):
                problem = (
                    "damaged, or written by an earlier version; delete this line and all after it "
                    "to keep the trials before it, or the file to start the study again"
                )
                raise DataError(self.path, number, problem)
            if number == len(self._known):
                self._known.append((position, checksum))
            yield json.loads(body + b"}")

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Append objects as lines, after those of other processes."""
        with self._lock:
            for _ in self.read_logs(len(self._known) - 1):
                pass
            position, checksum = self._known[-1]
            if self.path.stat().st_size < position:
                raise DataError(self.path, None, "shortened by another program while in use")
            lines = b""
            for log in logs:
                body = json.dumps(log).encode().removesuffix(b"}")
                checksum = _checksum(checksum, body)
                lines += body + _ending(checksum)
            with self.path.open("r+b") as file:
                file.truncate(position)
                file.seek(position)
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())


def _checksum(previous: str, body: bytes) -> str:
    return hashlib.sha256(previous.encode() + body).hexdigest()[:LENGTH]


def _ending(checksum: str) -> bytes:
    return f', "checksum": "{checksum:{LENGTH}}"}}\n'.encode()
