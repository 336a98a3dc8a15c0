"""The files of a run: its record, and the folder with checkpoints and what rebuilds the model."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmo_bench.config.settings import RunSettings
from elmo_bench.records.atomic import write_text
from elmo_bench.records.run import Record, read_record
from elmo_bench.runs.identity import run_id


@dataclass(frozen=True)
class RunFiles:
    """The paths of a run, named by what it computes."""

    run: str  # the hash
    folder: Path  # checkpoints, curves, and what rebuilds the model
    record: Path

    @classmethod
    def of(cls, settings: RunSettings) -> "RunFiles":
        """The files of a run with these settings, once the inputs that it makes exist."""
        run = run_id(settings)
        name = f"{settings.task.name}-{settings.elmo.name}-s{settings.seed}-{run}"
        record = Path(settings.paths.results) / f"{name}.json"
        return cls(run, Path(settings.paths.outputs) / "runs" / name, record)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def checkpoints(self) -> Path:
        return self.folder / "checkpoints"

    @property
    def best(self) -> Path:
        return self.checkpoints / "best.ckpt"

    def resumable(self) -> str | None:
        """The checkpoint from which an interrupted run resumes; useless without the best one."""
        last = self.checkpoints / "last.ckpt"
        return str(last) if last.exists() and self.best.exists() else None

    @property
    def marker(self) -> Path:
        """Written last: without it the run is unfinished, whatever else exists."""
        return self.folder / "finished"

    def finished(self) -> Record | None:
        """The record, if the run was completed here; a record alone may have come with a clone."""
        if not (self.marker.exists() and self.best.exists()):
            return None
        try:
            record = read_record(self.record)
        except ValueError:
            return None  # a damaged record is made again
        return record if record.error is None else None

    def mark_finished(self) -> None:
        """Say that everything of the run is on the disk."""
        write_text(self.marker, f"{self.record.name}\n")

    def restart(self) -> None:
        """Remove what a repeated run must not find."""
        self.marker.unlink(missing_ok=True)
        shutil.rmtree(self.checkpoints, ignore_errors=True)

    def write_model_spec(self, settings: RunSettings, model_spec: Mapping[str, Any]) -> None:
        """Write what rebuilds the model without the training data, next to its checkpoints."""
        text = settings.model_dump_json(by_alias=True, serialize_as_any=True, indent=1)
        write_text(self.folder / "settings.json", text + "\n")
        write_text(self.folder / "model_spec.json", json.dumps(model_spec))
