"""A file lock that says what it waits for."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

PATIENCE = 1.0  # seconds of waiting that need no explanation

log = logging.getLogger(__name__)


@contextmanager
def file_lock(path: Path | str, doing: str) -> Iterator[None]:
    """Hold a lock; if another process holds it for more than a moment, say so once.

    Args:
        path: The lock's file.
        doing: What a process that holds it is doing: "trains the biLM mini".
    """
    lock = FileLock(path)
    try:
        lock.acquire(timeout=PATIENCE)
    except Timeout:
        log.info("waiting for another process that %s (%s)", doing, path)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
