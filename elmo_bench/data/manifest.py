"""The manifest of the open corpora behind the results: where each is from, its hashes and counts.

A hash is that of a file's content, so a file and its .gz count as the same.
"""

import gzip
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from elmo_bench.config.compose import task_settings
from elmo_bench.config.folders import PACKAGE
from elmo_bench.config.locating import build_task
from elmo_bench.data.example import Split, distinct_segments
from elmo_bench.data.files import DataError, numbered_lines
from elmo_bench.data.vectors import stream_vectors
from elmo_bench.errors import UserError
from elmo_bench.records.atomic import write_text

SHIPPED = PACKAGE / "shipped" / "data.json"  # in a checkout a link to results/reference/data.json
_BLOCK = 1 << 20


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class OpenFile(_Facts):
    """A file of a corpus; its size and hash are those of the content, unpacked."""

    path: str  # below the folder of open corpora
    split: Split | None = None  # None: no split, or several
    reader: str | None = None  # instead of the corpus's
    bytes: int = 0
    sha256: str = ""
    counts: dict[str, int] = {}


class Source(_Facts):
    """Where a corpus can be had; `commit` is the one of a repository that the files are from."""

    url: str
    commit: str | None = None


class OpenCorpus(_Facts):
    """Files with one source and one license."""

    name: str
    about: str
    license: str
    sources: list[Source]
    made: str  # how the files follow from the sources, and how splits were cut
    reader: str | None = None  # what counts it: a task, "text", "vectors" or "lines"
    used_by: list[str] = []  # experiments, analyses and biLMs with recorded results
    left_out: dict[Split, list[str]] = {}  # what the files lack of the sources, by id
    files: list[OpenFile]

    @property
    def folder(self) -> str:
        """The folder of its files."""
        return self.files[0].path.partition("/")[0]


class Manifest(_Facts):
    """All open corpora."""

    version: int
    corpora: list[OpenCorpus]

    def only(self, names: Sequence[str]) -> list[OpenCorpus]:
        """The corpora that are named, or whose folder is; all of them without a name."""
        labels = {corpus.name: {corpus.name, corpus.folder} for corpus in self.corpora}
        known = sorted(set().union(*labels.values()))
        if unknown := [name for name in names if name not in known]:
            problem = f"no corpus or folder is named {' or '.join(unknown)}"
            raise UserError(f"{problem}; there are {', '.join(known)}")
        return [corpus for corpus in self.corpora if not names or labels[corpus.name] & {*names}]


def read_manifest(path: Path) -> Manifest:
    """Read a manifest; a DataError says what is wrong with it."""
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the manifest"
        raise DataError(path, None, f"{place}: {first['msg']}") from error


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Write a manifest, without what has its default value."""
    values = manifest.model_dump(exclude_defaults=True)
    write_text(path, json.dumps(values, indent=1, ensure_ascii=False) + "\n")


def locate(folder: Path, file: OpenFile) -> Path | None:
    """The file in a folder of open corpora, packed or not; None if it is missing."""
    plain = folder / file.path.removesuffix(".gz")
    found = [path for path in (folder / file.path, plain, Path(f"{plain}.gz")) if path.is_file()]
    return found[0] if found else None


class Content(NamedTuple):
    """What identifies a file's content."""

    bytes: int
    sha256: str


def content(path: Path, open_file: Callable[[Path], BinaryIO] | None = None) -> Content:
    """Measure the content of a file, unpacked if its name ends in .gz.

    Args:
        path: The file.
        open_file: Opens it, for a caller that shows how far the reading is.
    """
    digest, size = hashlib.sha256(), 0
    with open_file(path) if open_file else path.open("rb") as file:
        stream = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
        try:
            while block := stream.read(_BLOCK):
                digest.update(block)
                size += len(block)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(path, None, f"damaged or truncated .gz file ({error})") from error
    return Content(size, digest.hexdigest())


def measured(corpus: OpenCorpus, folder: Path) -> OpenCorpus:
    """The corpus with the sizes, hashes and counts of its files in a folder."""
    return corpus.model_copy(update={"files": [_measured(corpus, f, folder) for f in corpus.files]})


def _measured(corpus: OpenCorpus, file: OpenFile, folder: Path) -> OpenFile:
    path = locate(folder, file)
    if path is None:
        raise DataError(folder / file.path, None, "is missing, so it cannot be measured")
    counts = _counts(path, file.split or "test", file.reader or corpus.reader)
    return file.model_copy(update={**content(path)._asdict(), "counts": counts})


def _counts(path: Path, split: Split, reader: str | None) -> dict[str, int]:
    """Count a file as the code that uses it reads it.

    The tokens of a task's examples are those of distinct segments, which the biLM reads.
    """
    match reader:
        case None:
            return {}
        case "lines":
            return {"lines": sum(1 for _ in numbered_lines(path))}
        case "text":
            lengths = Counter(len(line.split()) for _, line in numbered_lines(path))
            tokens = sum(length * number for length, number in lengths.items())
            return {"sentences": lengths.total() - lengths[0], "tokens": tokens}
        case "vectors":
            dims = Counter(len(vector) for _, vector in stream_vectors(path))
            return {"words": dims.total(), "dimensions": max(dims)}
        case task:
            examples = list(build_task(task_settings(task).build).read(path, split, Counter()))
            tokens = sum(map(len, distinct_segments(examples)))
            return {"examples": len(examples), "tokens": tokens}
