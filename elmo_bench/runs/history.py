"""The history of a training: the metrics of every dev pass, kept across resumes."""

import csv
import io
import time
from pathlib import Path
from typing import Any

from pytorch_lightning import Callback, LightningModule, Trainer

from elmo_bench.records.atomic import write_text


class MetricsHistory(Callback):
    """Collects one row per dev pass, for the record and as a CSV file.

    Args:
        path: The CSV file, rewritten whole after every pass.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []
        self.earlier_seconds = 0.0  # of training before a resume
        self.start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Time spent in training, including before a resume."""
        return self.earlier_seconds + time.perf_counter() - self.start

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.start = time.perf_counter()

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        row = {"epoch": trainer.current_epoch + 1, "step": trainer.global_step}
        values = {key: float(value) for key, value in trainer.callback_metrics.items()}
        self.rows.append({**row, **values, "seconds": round(self.seconds, 2)})
        self._write()

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        # The mean loss of an epoch is known only now, after its dev pass.
        if self.rows and "train/loss" in trainer.callback_metrics:
            self.rows[-1]["train/loss"] = float(trainer.callback_metrics["train/loss"])
            self._write()

    def state_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "seconds": self.seconds}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.rows, self.earlier_seconds = list(state_dict["rows"]), state_dict["seconds"]

    def _write(self) -> None:
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        write_text(self.path, text.getvalue())
