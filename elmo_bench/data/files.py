"""Opening corpus files, plain or .gz, and the one error that readers raise."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path


class DataError(ValueError):
    """A file that does not hold what its format promises; names the file and the line."""

    def __init__(self, path: Path | str, line: int | None, problem: str) -> None:
        place = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {problem}")


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its newline) of a UTF-8 file, streaming."""
    number = 0
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                yield number, line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(path, number + 1, f"not UTF-8 text ({error.reason})") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(path, number + 1, f"damaged or cut-off .gz file ({error})") from error
    except OSError as error:
        raise DataError(path, None, f"cannot be read ({error.strerror or error})") from error
