"""Reading files that somebody else may have made: within limits, and with one kind of error."""

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from elmo_bench.errors import UserError

MAX_BYTES = 1 << 28  # of a file that is read as a whole, unpacked
Kind = TypeVar("Kind")
_adapter: Any = cache(TypeAdapter)  # building one takes longer than reading a record


def read_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    """The content of a file, unpacked if its name ends in .gz; a larger one is refused."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            content: bytes = file.read(limit + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{path}: damaged or truncated .gz file ({error})") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UserError(f"{path}: cannot be read ({reason})") from error
    if len(content) > limit:
        raise UserError(f"{path}: more than {limit:,} bytes, the limit of such files")
    return content


def read_json(path: Path) -> Any:
    """The value in a JSON file; a UserError says what is wrong with it."""
    return parse_json(read_bytes(path), str(path))


def parse_json(text: bytes | str, place: str) -> Any:
    """A JSON value; `place` starts the error message."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()  # JSON can spell half of a character
    except RecursionError as error:
        raise UserError(f"{place}: unreadable JSON (nested too deeply)") from error
    except ValueError as error:  # of the JSON or of its text
        raise UserError(f"{place}: not a readable JSON file ({error})") from error
    return value


def read_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file."""
    content = read_json(path)
    if not isinstance(content, dict):
        raise UserError(f"{path}: not a JSON object but a {type(content).__name__}")
    return content


def checked(kind: type[Kind], values: Any, place: Path | str) -> Kind:
    """Values as a pydantic model or dataclass, with every type checked."""
    try:
        found: Kind = _adapter(kind).validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise UserError(f"{place}: {key + ': ' if key else ''}{first['msg']}") from error
    return found


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Report whatever a library makes of a damaged file as a UserError that names the file."""
    try:
        yield
    except (UserError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{path}: cannot be used ({type(error).__name__}: {reason})") from error
