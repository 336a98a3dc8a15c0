"""W&B and TensorBoard, in addition to the CSV file; a failing logger never stops a run."""

import logging
import netrc
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import Logger

from elmo_bench.config.settings import LoggerSettings, TensorBoardLogger, WandbLogger

log = logging.getLogger(__name__)

WANDB_HOST = "api.wandb.ai"


def build_logger(
    settings: LoggerSettings, folder: Path, run_name: str, group: str, config: dict[str, Any]
) -> "GuardedLogger | None":
    """The logger that the config names, or None for CSV only or if it cannot start."""
    try:
        match settings:
            case WandbLogger():
                return GuardedLogger(_wandb(settings, folder, run_name, group, config))
            case TensorBoardLogger():
                from pytorch_lightning import loggers

                board = loggers.TensorBoardLogger(str(folder), name="tensorboard", version="")
                return GuardedLogger(board)
    except Exception as error:
        log.warning("logger=%s could not start; continuing without it: %s", settings.name, error)
    return None


def _wandb(
    settings: WandbLogger, folder: Path, run_name: str, group: str, config: dict[str, Any]
) -> Logger:
    import wandb
    from pytorch_lightning import loggers

    class ClosingLogger(loggers.WandbLogger):
        def close(self) -> None:
            self.experiment.finish()

    offline = settings.mode == "offline" or (settings.mode == "auto" and not _reachable())
    os.environ.setdefault("WANDB_SILENT", "true")
    run = wandb.init(
        project=settings.project,
        entity=settings.entity,
        name=run_name,
        group=group,
        dir=str(folder),
        config=config,
        mode="offline" if offline else "online",
        reinit="create_new",  # the runs of one sweep share a process, not a W&B run
    )
    return ClosingLogger(experiment=run)


def _reachable() -> bool:
    """Whether W&B can be used online; the network is tried only if there is a key."""
    if not (os.environ.get("WANDB_API_KEY") or _netrc_has_key()):
        return False
    try:
        socket.create_connection((WANDB_HOST, 443), timeout=1).close()
    except OSError:
        return False
    return True


def _netrc_has_key() -> bool:
    try:
        return netrc.netrc().authenticators(WANDB_HOST) is not None
    except (OSError, netrc.NetrcParseError):
        return False


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

    def log_summary(self, values: Mapping[str, float], draw: Callable[[], Path] | None) -> None:
        """Log the outcome of the run: scores, and a figure of its layer weights.

        Args:
            values: The scores by name.
            draw: Makes the figure; not called if the logger takes no images.
        """
        self._call("log_metrics", dict(values), None)
        log_image = getattr(self.logger, "log_image", None)
        if draw is not None and log_image is not None:
            self._guard("log_image", lambda: log_image("layer_weights", [str(draw())]))

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
