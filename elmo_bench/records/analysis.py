"""The record of an analysis of a biLM's layers: one JSON file, beside the records of runs."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from elmo_bench.records.digest import digest
from elmo_bench.records.environment import environment
from elmo_bench.records.json_files import read_all, read_as, source_of, write_json

VERSION = 1  # raised when the meaning of a field changes


@dataclass(frozen=True)
class Analysis:
    """The results of one analysis. Scores are percentages."""

    analysis: str  # wsd, pos or neighbors: the command
    bilm: str
    fingerprint: str  # of the biLM's weights
    data: str  # for display; `settings` has the hash of every file
    settings: dict[str, Any]  # everything that affects a number
    metric: str = ""  # the score shown in tables; '' where there are only examples
    layers: list[dict[str, float]] = field(default_factory=list)  # metric -> score, from tokens up
    baselines: dict[str, dict[str, float]] = field(default_factory=dict)  # name -> metric -> score
    examples: dict[str, Any] = field(default_factory=dict)  # results that are text
    sizes: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)  # by stage
    finished: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    environment: dict[str, Any] = field(default_factory=environment)
    version: int = VERSION
    file: Path | None = field(default=None, compare=False)  # that it was read from

    @property
    def source(self) -> str:
        """Whose analysis it is: "reference" if it shipped with the project, else "yours"."""
        return source_of(self.file)

    @property
    def run(self) -> str:
        """Hash of what was computed; analyses with the same hash replace each other."""
        return digest([self.analysis, self.fingerprint, self.settings])[:8]

    @property
    def file_name(self) -> str:
        """A readable name, made unique by the hash."""
        names = re.sub(r"[^\w.-]+", "_", f"{self.analysis}-{self.bilm}-{self.data}")
        return f"{names[:80]}-{self.run}.json"


def write_analysis(analysis: Analysis, directory: Path | str = "results/analysis") -> Path:
    """Write the record atomically, replacing an older one of the same analysis."""
    return write_json(Path(directory) / analysis.file_name, analysis)


def read_analyses(directory: Path | str = "results/analysis") -> list[Analysis]:
    """Read all records of a folder, sorted by name; a damaged file is logged and skipped."""
    return read_all(lambda path: read_as(Analysis, path, VERSION), Path(directory))


def data_name(path: Path) -> str:
    """The name of a data set in tables: the first part of its file's name, or its folder."""
    name = path.name.split(".")[0]
    return path.resolve().parent.name if name in ("train", "dev", "test") else name
