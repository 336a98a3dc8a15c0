"""The files of a run: its record, and the folder with checkpoints and what rebuilds the model."""

import json
import logging
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmo_bench.config.settings import RunSettings
from elmo_bench.errors import UserError
from elmo_bench.records.atomic import remove_leftovers, write_text
from elmo_bench.records.checksums import find_damage, write_checksums
from elmo_bench.records.digest import first_difference
from elmo_bench.records.run import Record, read_record
from elmo_bench.runs.identity import identity, name_of

FINISHED = "finished"
LAST = "last.ckpt"  # from which an interrupted run resumes
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunFiles:
    """The paths of a run, named by what it computes."""

    run: str  # the hash
    identity: dict[str, Any]  # what is hashed
    folder: Path  # checkpoints, curves, and what rebuilds the model
    record: Path

    @classmethod
    def of(cls, settings: RunSettings) -> "RunFiles":
        """The files of a run with these settings, once the inputs that it makes exist."""
        what = identity(settings)
        run = name_of(what)
        name = f"{settings.task.name}-{settings.elmo.name}-s{settings.seed}-{run}"
        record = Path(settings.paths.results) / f"{name}.json"
        return cls(run, what, Path(settings.paths.outputs) / "runs" / name, record)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def checkpoints(self) -> Path:
        return self.folder / "checkpoints"

    @property
    def best(self) -> Path:
        return self.checkpoints / "best.ckpt"

    @property
    def last(self) -> Path:
        return self.checkpoints / LAST

    @property
    def is_begun(self) -> bool:
        """Whether there is something to resume from: the last checkpoint counts with the best."""
        return self.last.exists() and self.best.exists()

    def remove_leftovers(self) -> None:
        """Remove what killed processes left beside the files of this run."""
        remove_leftovers(self.folder, self.checkpoints, self.record.parent)

    @property
    def marker(self) -> Path:
        """Written last: without it the run is unfinished, whatever else exists."""
        return self.folder / FINISHED

    def finished(self) -> Record | None:
        """The record, if the run was completed here; a record alone may have come with a clone."""
        if not self.marker.exists():
            return None
        if damage := find_damage(self.folder, self.marker.name):
            log.warning("%s is repeated: %s", self.name, damage)
            return None
        try:
            record = read_record(self.record)
        except ValueError:
            return None  # a damaged record is made again
        return record if record.error is None else None

    def mark_finished(self) -> None:
        """Say that everything of the run is on the disk: the checksums of what rebuilds it."""
        files = (self.best, self.folder / "settings.json", self.folder / "model_spec.json")
        write_checksums(self.folder, files, self.marker.name)

    def restart(self) -> None:
        """Remove what a repeated run must not find."""
        self.marker.unlink(missing_ok=True)
        shutil.rmtree(self.checkpoints, ignore_errors=True)

    def refuse_changed_inputs(self, settings: RunSettings) -> None:
        """Refuse a result whose data, vectors or biLM were replaced during the run."""
        if other := first_difference(self.identity, identity(settings)):
            raise UserError(
                f"an input of {self.name} has changed since the run began ({other}), so it is not "
                "recorded; the same command runs on what is there now."
            )

    def write_model_spec(self, settings: RunSettings, model_spec: Mapping[str, Any]) -> None:
        """Write what rebuilds the model without the training data, next to its checkpoints."""
        text = settings.model_dump_json(by_alias=True, serialize_as_any=True, indent=1)
        write_text(self.folder / "settings.json", text + "\n")
        write_text(self.folder / "model_spec.json", json.dumps(model_spec))


def find_run(name: str, outputs: Path) -> Path:
    """The folder of a finished run, by its path, or its name or hash or how these begin."""
    wanted = Path(name).name.removesuffix(".json")
    folders = [Path(name)] if Path(name).is_dir() else sorted((outputs / "runs").glob("*"))
    done = [folder for folder in folders if (folder / FINISHED).exists()]
    found = [f for f in done if Path(name).is_dir() or f.name.endswith(wanted)]
    found = found or [f for f in done if f.name.startswith(wanted) or f"-{wanted}" in f.name]
    if len(found) == 1:
        return found[0]
    known = ", ".join(folder.name for folder in found or done)
    problem = f"several runs are called {wanted!r}" if found else f"no finished run is {wanted!r}"
    way = known or "none; `python run.py task=ner` makes one"
    raise UserError(f"{problem}. Finished runs in {outputs / 'runs'}: {way}")
