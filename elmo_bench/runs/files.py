"""The files of a run: its record, and the folder with checkpoints and what rebuilds the model."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from elmo_bench.config.identity import run_id
from elmo_bench.records.files import write_text
from elmo_bench.records.run import Record, read_record


@dataclass(frozen=True)
class RunFiles:
    """Where a run keeps what; named by what it computes."""

    run: str  # the hash
    folder: Path  # checkpoints, curves, and what rebuilds the model
    record: Path

    @classmethod
    def of(cls, cfg: DictConfig) -> "RunFiles":
        """The files of a config."""
        run = run_id(cfg)
        name = f"{cfg.task.name}-{cfg.elmo.name}-s{cfg.seed}-{run}"
        record = Path(cfg.paths.results) / f"{name}.json"
        return cls(run, Path(cfg.paths.outputs) / "runs" / name, record)

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
        """The checkpoint that a cut-off run goes on from; it is of use only beside the best one."""
        last = self.checkpoints / "last.ckpt"
        return str(last) if last.exists() and self.best.exists() else None

    def finished(self) -> Record | None:
        """The record, if the run was done here to its end.

        A record without its checkpoint came with the checkout: the run is done again, which
        replaces it.
        """
        if not (self.record.exists() and self.best.exists()):
            return None
        try:
            record = read_record(self.record)
        except ValueError:
            return None  # a damaged record is made again
        return record if record.error is None else None

    def write_model_spec(self, cfg: DictConfig, model_spec: Mapping[str, Any]) -> None:
        """Keep what rebuilds the model beside its checkpoints, without the training data."""
        write_text(self.folder / "config.yaml", OmegaConf.to_yaml(cfg, resolve=True))
        write_text(self.folder / "model_spec.json", json.dumps(model_spec))
