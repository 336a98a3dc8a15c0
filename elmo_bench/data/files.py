"""Reading corpus files, plain or .gz, and the one error that readers raise."""

import gzip
import json
import math
import zlib
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import Any, cast

from elmo_bench.errors import UserError

MAX_LINE = 1 << 27  # bytes; SQuAD is one line of 30 million
MAX_JSON = 1 << 28  # characters of a file that is one JSON value
MAX_RATIO = 200  # of a .gz file's content to its size; text has 3 to 20


class DataError(UserError):
    """A file that violates its format; the message names the file and the line."""

    def __init__(self, path: Path | str, line: int | None, problem: str) -> None:
        location = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{location}: {problem}")


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its newline) of a UTF-8 file, streaming."""
    number = 0
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            # Bytes are decoded line by line, so that an invalid byte is reported with its line.
            for number, raw in enumerate(_bounded(path, cast(BufferedIOBase, file)), start=1):
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                if "\0" in line:
                    raise DataError(path, number, "not UTF-8 text (contains NUL; is it UTF-16?)")
                yield number, line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 text ({error.reason}, byte {error.start + 1} of the line)"
        raise DataError(path, number, problem) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(path, number + 1, f"damaged or truncated .gz file ({error})") from error
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        # ValueError: an impossible file name, such as one that contains NUL.
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise DataError(path, None, f"cannot be read ({reason})") from error


def _bounded(path: Path, file: BufferedIOBase) -> Iterator[bytes]:
    """The lines of a file; a .gz that unpacks to far more than text can is refused."""
    allowed = max(1 << 30, MAX_RATIO * path.stat().st_size) if path.suffix == ".gz" else math.inf
    unpacked = 0
    while raw := file.readline(MAX_LINE + 1):
        unpacked += len(raw)
        if len(raw) > MAX_LINE:
            raise DataError(path, None, f"has a line of more than {MAX_LINE:,} bytes, the limit")
        if unpacked > allowed:
            raise DataError(path, None, f"unpacks to more than {MAX_RATIO} times its size")
        yield raw


def parse_json(path: Path, line: int, text: str) -> Any:
    """Parse a JSON value that starts at the given line of a file."""
    try:
        value = json.loads(text)
        # JSON can spell half of a surrogate pair, which is not a character.
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except json.JSONDecodeError as error:
        number = line + error.lineno - 1
        raise DataError(path, number, f"not JSON ({error.msg}, column {error.colno})") from error
    except RecursionError as error:
        raise DataError(path, line, "unreadable JSON (nested too deeply)") from error
    except ValueError as error:  # a lone surrogate, or an integer with thousands of digits
        raise DataError(path, line, f"unreadable JSON ({error})") from error


def read_json(path: Path) -> Any:
    """Return the value in a JSON file, plain or .gz."""
    text, size = [], 0
    for _, line in numbered_lines(path):
        size += len(line) + 1
        if size > MAX_JSON:
            raise DataError(path, None, f"has more than {MAX_JSON:,} characters, the limit of JSON")
        text.append(line)
    if not any(map(str.strip, text)):
        raise DataError(path, None, "the file is empty")
    return parse_json(path, 1, "\n".join(text))
