"""Reading corpus files, plain or .gz, and the one error that readers raise."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elmo_bench.errors import UserError


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
            for number, raw in enumerate(file, start=1):
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
    text = "\n".join(line for _, line in numbered_lines(path))
    if not text.strip():
        raise DataError(path, None, "the file is empty")
    return parse_json(path, 1, text)
