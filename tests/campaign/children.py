"""Work in forked processes, which need not import torch again, and killing them."""

import os
import random
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path

LONGEST = 240.0  # seconds of one attempt


def attempt(work: Callable[[], object], log: Path, kill_after: float | None = None) -> int:
    """Do some work in another process; return its exit status, -9 if it was killed.

    Args:
        work: What to do; an exception gives the status 1.
        log: Takes what it prints.
        kill_after: Seconds after which the process and those that it started are killed.
    """
    child = os.fork()
    if child == 0:
        os.setsid()
        output = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        try:
            work()
        except SystemExit as stop:
            os._exit(stop.code if isinstance(stop.code, int) else 1)
        except BaseException:
            os.write(output, traceback.format_exc().encode())
            os._exit(1)
        os._exit(0)
    deadline = time.monotonic() + (LONGEST if kill_after is None else kill_after)
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_until(
    kills: int,
    new: Callable[[Path], Callable[[], object]],
    compare: Callable[[Path], None],
    folder: Path,
) -> int:
    """Kill some work at random moments, let it end, compare, and begin anew; return the kills.

    Args:
        kills: How many at least.
        new: Makes the work that writes below a folder.
        compare: Asserts that the folder is as after undisturbed work.
        folder: For everything.
    """
    draws = random.Random(1)
    whole = folder / "undisturbed"
    whole.mkdir()
    start = time.monotonic()
    assert attempt(new(whole), whole / "log") == 0, (whole / "log").read_text()
    seconds = time.monotonic() - start
    killed = rounds = 0
    while killed < kills:
        rounds += 1
        place = folder / f"round{rounds}"
        place.mkdir()
        for _ in range(4):  # kills of one and the same work, at most
            status = attempt(new(place), place / "log", draws.uniform(0.02, seconds))
            assert status in (0, -signal.SIGKILL), (place / "log").read_text()
            if status == 0:
                break
            killed += 1
        assert attempt(new(place), place / "log") == 0, (place / "log").read_text()
        compare(place)
        left = [path for path in place.rglob("*") if path.name.endswith((".unfinished", ".new"))]
        assert left == []
    return killed
