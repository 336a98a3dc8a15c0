"""The result of a run as a JSON file: the truth that tables, plots and loggers are views of.

Nothing here imports torch, so that reports open at once.
"""

import json
import logging
import os
import platform
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from importlib import metadata
from pathlib import Path
from typing import Any

VERSION = (
    1  # raised when the meaning of a field changes; older records are read as long as they fit
)
PACKAGES = ("torch", "pytorch-lightning", "hydra-core", "datasets", "seqeval", "wandb", "numpy")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Record:
    """What one run computed and what came out. Scores are percentages as papers print them."""

    run: str  # hash of what was computed; runs with the same hash replace each other
    task: str
    seed: int
    metric: str  # the name in `scores` that fills the tables
    data: str  # names of the chosen options, for people; `config` has every value
    words: str
    elmo: str  # "none" is the baseline
    bilm: str | None  # None in the baseline
    config: dict[str, Any]  # resolved, and exactly what the hash was made of
    scores: dict[str, dict[str, float]]  # split -> metric -> value
    layer_weights: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # place -> weights, gamma
    epochs: list[dict[str, Any]] = field(default_factory=list)  # the course of training
    sizes: dict[str, int] = field(default_factory=dict)  # examples per split, parameters, bytes
    seconds: dict[str, float] = field(default_factory=dict)  # by stage
    notes: dict[str, int] = field(default_factory=dict)  # what the readers passed over
    # of the biLM on the task's dev text, where it was fine-tuned: before, after -> by direction
    perplexity: dict[str, dict[str, float]] = field(default_factory=dict)
    fingerprint: str | None = None  # of the biLM's weights
    predictions: str | None = None  # file of test predictions, beside the record
    error: str | None = None  # why the run failed; then `scores` is empty
    started: str = ""  # ISO 8601, UTC
    finished: str = ""
    environment: dict[str, Any] = field(default_factory=dict)
    version: int = VERSION

    @property
    def file_name(self) -> str:
        """Readable first, unique by the hash."""
        return f"{self.task}-{self.elmo}-s{self.seed}-{self.run}.json"


def write_record(record: Record, directory: Path) -> Path:
    """Write a record in one step: a reader sees the old file or the new one, never a part."""
    path = directory / record.file_name
    write_atomically(path, json.dumps(asdict(record), indent=1, sort_keys=True) + "\n")
    return path


def write_atomically(path: Path, text: str) -> None:
    """Replace a text file in one step, also when several processes write it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # mkstemp makes private files; records are for sharing
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_record(path: Path) -> Record:
    """Read one record; ValueError says what is wrong with the file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: not a readable JSON file ({error})") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path}: a record is a JSON object, this is a {type(content).__name__}")
    if content.get("version", 0) > VERSION:
        raise ValueError(
            f"{path}: written by a newer elmo_bench (record version {content['version']}, "
            f"this one reads up to {VERSION}); update elmo_bench"
        )
    known = {field.name for field in fields(Record)}
    try:
        return Record(**{key: value for key, value in content.items() if key in known})
    except TypeError as error:
        raise ValueError(f"{path}: not a record ({error})") from error


def iterate_records(directory: Path) -> Iterator[Record]:
    """Yield the records of a folder by name; a damaged file is named in the log and skipped."""
    for path in sorted(directory.glob("*.json")):
        try:
            yield read_record(path)
        except ValueError as error:
            log.warning("skipped a damaged record: %s", error)


def read_records(directory: Path | str = "results/runs") -> list[Record]:
    """Read all records of a folder."""
    return list(iterate_records(Path(directory)))


def environment() -> dict[str, Any]:
    """What a result may depend on beside the config."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "commit": _git_commit(),
        "packages": {name: _package_version(name) for name in PACKAGES},
    }


def _package_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _git_commit() -> str | None:
    """The checkout's commit, with a + when files differ from it."""
    root = Path(__file__).parents[1]
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip()
