"""The error type for what a user can mend, and how a program ends: with one line, or as a bug.

Readers, settings and checks raise `UserError`, or let an `OSError` pass. Everything else is a
mistake in the code, and ends with a traceback.
"""

import errno
import os
import re
import sys
import traceback
from importlib import metadata

USER, BUG, INTERRUPTED = 2, 1, 130  # exit statuses
SHOW_TRACEBACK = "ELMO_BENCH_TRACEBACK"  # if set, errors of the user end with a traceback too
_HINTS = {
    errno.ENOSPC: "free some space and repeat the command, which continues where it stopped, or "
    "write to another disk (--help, or paths.* of a run)",
    errno.EDQUOT: "your quota is used up; free some space and repeat the command, which continues "
    "where it stopped, or write to another disk (--help, or paths.* of a run)",
    errno.EROFS: "write to another folder (--help, or paths.* of a run)",
    errno.EACCES: "check its permissions, or use another folder (--help, or paths.* of a run)",
    errno.EPERM: "check its permissions, or use another folder (--help, or paths.* of a run)",
    errno.EMFILE: "raise the limit of open files with: ulimit -n 4096",
}
_OS_ERROR = re.compile(r"\(os error (\d+)\)")
# What libraries raise when their user is wrong, by name: importing them takes seconds.
_THEIRS = {
    "MisconfigurationException": "",
    "OutOfMemoryError": "lower the batch size, task.training.max_padded_tokens in a run",
    "MemoryError": "lower the batch size, task.training.max_padded_tokens in a run",
}


class UserError(ValueError):
    """Something that the user can mend: the message says what is wrong and what to do."""


def explanation(error: BaseException) -> str | None:
    """One line about an error that the user can mend; None about a mistake in the code."""
    if isinstance(error, UserError):
        return _line(str(error))
    for cause in _causes(error):  # a full disk may be reported by a library in its own words
        if (reported := system_error(cause)) is not None:
            return _line(_of_system(reported))
    if isinstance(error, ImportError) and not (error.name or "").startswith("elmo_bench"):
        return _line(f"{error}; install it into the same environment")
    if type(error).__name__ in _THEIRS:
        hint = _THEIRS[type(error).__name__]
        return _line("; ".join(filter(None, [str(error) or "out of memory", hint])))
    return None


def system_error(error: BaseException) -> OSError | None:
    """What the system reported, in Python or through safetensors, which is not Python."""
    if isinstance(error, OSError):
        return error
    number = _OS_ERROR.search(str(error))
    return OSError(int(number[1]), os.strerror(int(number[1]))) if number else None


def end(program: str, error: BaseException) -> int:
    """Report an error on stderr and return the exit status of the program."""
    if isinstance(error, BrokenPipeError):  # the reader of a pipe, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return USER
    if isinstance(error, KeyboardInterrupt):
        outlook = str(error) or "what is finished is kept, and the same command continues"
        print(f"{program}: interrupted; {outlook}", file=sys.stderr)
        return INTERRUPTED
    line = explanation(error)
    if line is None or os.environ.get(SHOW_TRACEBACK):
        traceback.print_exception(error)
    if line is not None:
        print(f"{program}: {line}", file=sys.stderr)
        return USER
    print(
        f"{program}: this is a bug in elmo_bench {metadata.version('elmo_bench')}. Please report "
        "it to its maintainers with the command, the traceback above and `pip freeze`.",
        file=sys.stderr,
    )
    return BUG


def _line(message: str) -> str:
    """The message in one line; a terminal obeys none of its characters."""
    words = " ".join(message.split())
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in words)


def _causes(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _of_system(error: OSError) -> str:
    """What the system reports, with the file and a way out; our own errors have only a message."""
    if error.strerror is None or error.errno is None:
        return str(error)
    name = error.filename if error.filename2 is None else error.filename2
    place = f"{os.fsdecode(name)}: " if isinstance(name, str | bytes | os.PathLike) else ""
    hint = _HINTS.get(error.errno)
    # Not error.strerror: HDF5 puts addresses and file descriptors into it.
    return f"{place}{os.strerror(error.errno)}" + (f"; {hint}" if hint else "")
