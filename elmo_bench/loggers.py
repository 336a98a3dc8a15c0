"""W&B and TensorBoard, in addition to the CSV file; a failing logger never stops a run."""

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import Logger

from elmo_bench.config.settings import LoggerSettings, TensorBoardLogger, WandbLogger
from elmo_bench.data.wandb_server import is_usable

log = logging.getLogger(__name__)

WAIT = 20.0  # seconds for W&B to begin a run


@dataclass(frozen=True)
class Logged:
    """What a logger is told about a run when it begins.

    Args:
        id: Stable: a run that is resumed continues what it logged before.
        name: For display.
        group: Runs that belong together, unless the settings say otherwise.
        job_type: The kind of run within its group.
        config: What is computed.
    """

    id: str
    name: str
    group: str
    job_type: str
    config: dict[str, Any]


def build_logger(settings: LoggerSettings, folder: Path, run: Logged) -> "GuardedLogger | None":
    """The logger that the config names, or None for CSV only or if it cannot start."""
    try:
        match settings:
            case WandbLogger():
                return GuardedLogger(_wandb(settings, folder, run))
            case TensorBoardLogger():
                from pytorch_lightning import loggers

                board = loggers.TensorBoardLogger(str(folder), name="tensorboard", version="")
                return GuardedLogger(board)
    except Exception as error:
        log.warning("logger=%s could not start; continuing without it: %s", settings.name, error)
    return None


def _wandb(settings: WandbLogger, folder: Path, run: Logged) -> Logger:
    import wandb
    from pytorch_lightning import loggers

    class ClosingLogger(loggers.WandbLogger):
        def log_files(self, name: str, paths: list[Path]) -> None:
            artifact = wandb.Artifact(name, type="record")
            for path in paths:
                artifact.add_file(str(path))
            self.experiment.log_artifact(artifact)

        def close(self) -> None:
            # Without it, the runs of one sweep, which share a process, would merge.
            self.experiment.finish()
            if offline:
                stored = Path(self.experiment.settings.sync_dir)
                log.info("W&B was offline; to upload this run: wandb sync %s", stored)

    offline = settings.mode == "offline" or (settings.mode == "auto" and not is_usable())
    os.environ.setdefault("WANDB_SILENT", "true")
    experiment = wandb.init(
        project=settings.project,
        entity=settings.entity,
        id=run.id,
        resume=None if offline else "allow",  # offline runs of one id are joined when synced
        name=run.name,
        group=settings.group or run.group,
        job_type=run.job_type,
        dir=str(folder),
        config=run.config,
        mode="offline" if offline else "online",
        settings=wandb.Settings(init_timeout=WAIT),
        reinit="create_new",  # the runs of one sweep share a process, not a W&B run
    )
    return ClosingLogger(experiment=experiment)


class GuardedLogger(Logger):
    """Forwards calls to a logger, and drops it with a warning if it fails."""

    def __init__(self, logger: Logger) -> None:
        super().__init__()
        self.logger: Logger | None = logger

    @property
    def name(self) -> str:
        return "guarded"

    @property
    def version(self) -> str:
        return ""

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        self._call("log_metrics", dict(metrics), step)

    def log_hyperparams(self, params: Any, *args: Any) -> None:
        self._call("log_hyperparams", params, *args)

    def log_summary(
        self, values: Mapping[str, float], record: Path, draw: Callable[[], Path] | None
    ) -> None:
        """Log the outcome of the run: scores, the record, and a figure of its layer weights.

        Args:
            values: The scores by name.
            record: Its file.
            draw: Makes the figure; not called if the logger takes no images and files.
        """
        self._call("log_metrics", dict(values), None)
        log_image = getattr(self.logger, "log_image", None)
        log_files = getattr(self.logger, "log_files", None)
        if log_image is None or log_files is None:
            return

        def log_all() -> None:
            pictures = [draw()] if draw is not None else []
            for picture in pictures:
                log_image("layer_weights", [str(picture)])
            log_files(record.stem, [record, *pictures])

        self._guard("log_summary", log_all)

    def finish(self) -> None:
        """Close the logger's run, so that the next run of a sweep starts its own."""
        self._call("finalize", "success")
        self._call("close")

    def _call(self, method: str, *args: Any) -> None:
        function = getattr(self.logger, method, None)
        if function is not None:  # else dropped, or the logger lacks the method
            self._guard(method, lambda: function(*args))

    def _guard(self, method: str, call: Callable[[], object]) -> None:
        try:
            call()
        except Exception as error:
            log.warning("the logger failed in %s and is dropped: %s", method, error)
            self.logger = None
