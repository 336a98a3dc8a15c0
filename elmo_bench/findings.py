"""The result of an analysis as a JSON file, beside the records of runs. Imports no torch."""

import hashlib
import json
import logging
import re
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from elmo_bench.records import environment, write_atomically

VERSION = 1  # raised when the meaning of a field changes

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Analysis:
    """What an analysis of a biLM's layers found. Scores are percentages."""

    analysis: str  # wsd, pos or neighbors: the command
    bilm: str
    fingerprint: str  # of the biLM's weights
    data: str  # for people; `settings` has the content of every file
    settings: dict[str, Any]  # all that changes a number
    metric: str = ""  # the name in scores that fills the tables; '' where there are only examples
    layers: list[dict[str, float]] = field(default_factory=list)  # metric -> score, from tokens up
    baselines: dict[str, dict[str, float]] = field(default_factory=dict)  # name -> metric -> score
    examples: dict[str, Any] = field(default_factory=dict)  # what was found, where it is text
    sizes: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)  # by stage
    finished: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    environment: dict[str, Any] = field(default_factory=environment)
    version: int = VERSION

    @property
    def run(self) -> str:
        """Hash of what was computed; analyses with the same hash replace each other."""
        identity = [self.analysis, self.fingerprint, self.settings]
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:8]

    @property
    def file_name(self) -> str:
        """Readable first, unique by the hash."""
        names = re.sub(r"[^\w.-]+", "_", f"{self.analysis}-{self.bilm}-{self.data}")
        return f"{names[:80]}-{self.run}.json"


def write_analysis(analysis: Analysis, directory: Path | str = "results/analysis") -> Path:
    """Write the result in one step, in the place of an older one of the same analysis."""
    path = Path(directory) / analysis.file_name
    text = json.dumps(asdict(analysis), indent=1, sort_keys=True, ensure_ascii=False)
    write_atomically(path, text + "\n")
    return path


def read_analyses(directory: Path | str = "results/analysis") -> list[Analysis]:
    """All results of a folder by name; a damaged file is named in the log and skipped."""
    found = []
    for path in sorted(Path(directory).glob("*.json")):
        try:
            found.append(_read(path))
        except ValueError as error:
            log.warning("skipped a damaged analysis: %s", error)
    return found


def _read(path: Path) -> Analysis:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: not a readable JSON file ({error})") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path}: not a JSON object but a {type(content).__name__}")
    if content.get("version", 0) > VERSION:
        raise ValueError(f"{path}: written by a newer elmo_bench; update elmo_bench")
    known = {field.name for field in fields(Analysis)}
    try:
        return Analysis(**{key: value for key, value in content.items() if key in known})
    except TypeError as error:
        raise ValueError(f"{path}: not an analysis ({error})") from error


def file_identity(path: Path) -> dict[str, str]:
    """A file by name and content, for `settings`: where it lies changes nothing."""
    return {"name": path.name, "sha256": content_hash(path)}


def content_hash(path: Path) -> str:
    """Hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def data_name(path: Path) -> str:
    """What tables call a data set: the first part of its file's name, or its folder."""
    name = path.name.split(".")[0]
    return path.resolve().parent.name if name in ("train", "dev", "test") else name
