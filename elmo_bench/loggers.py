"""W&B and TensorBoard beside the CSV file; a logger that fails never costs a result."""

import logging
import netrc
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import Logger

log = logging.getLogger(__name__)

WANDB_HOST = "api.wandb.ai"


def build_logger(
    settings: Mapping[str, Any], folder: Path, run_name: str, group: str, config: dict[str, Any]
) -> "GuardedLogger | None":
    """The logger that the config names, or None for CSV alone or when it cannot start."""
    try:
        if settings["name"] == "wandb":
            return GuardedLogger(_wandb(settings, folder, run_name, group, config))
        if settings["name"] == "tensorboard":
            from pytorch_lightning.loggers import TensorBoardLogger

            return GuardedLogger(TensorBoardLogger(str(folder), name="tensorboard", version=""))
    except Exception as error:
        log.warning("logger=%s could not start, going on without it: %s", settings["name"], error)
    return None


def _wandb(
    settings: Mapping[str, Any], folder: Path, run_name: str, group: str, config: dict[str, Any]
) -> Logger:
    import wandb
    from pytorch_lightning.loggers import WandbLogger

    class ClosingLogger(WandbLogger):
        def close(self) -> None:
            self.experiment.finish()

    offline = settings["mode"] == "offline" or (settings["mode"] == "auto" and not _reachable())
    os.environ.setdefault("WANDB_SILENT", "true")
    run = wandb.init(
        project=settings["project"],
        entity=settings["entity"],
        name=run_name,
        group=group,
        dir=str(folder),
        config=config,
        mode="offline" if offline else "online",
        reinit="create_new",  # the runs of one sweep share a process, not a W&B run
    )
    return ClosingLogger(experiment=run)


def _reachable() -> bool:
    """Whether W&B can be used online: a key first, and only with one a look at the network."""
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
    """Passes calls on to a logger, and drops it with a warning once it fails."""

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
        """The outcome of the run: scores, and the picture of its layer weights.

        Args:
            values: By name.
            draw: Makes the picture; not called for a logger that takes none.
        """
        self._call("log_metrics", dict(values), None)
        log_image = getattr(self.logger, "log_image", None)
        if draw is not None and log_image is not None:
            self._guard("log_image", lambda: log_image("layer_weights", [str(draw())]))

    def finish(self) -> None:
        """Close the run for good, so that the next one of a sweep starts its own."""
        self._call("finalize", "success")
        self._call("close")

    def _call(self, method: str, *args: Any) -> None:
        function = getattr(self.logger, method, None)
        if function is not None:  # else dropped, or a logger that does not do this
            self._guard(method, lambda: function(*args))

    def _guard(self, method: str, call: Callable[[], object]) -> None:
        try:
            call()
        except Exception as error:
            log.warning("the logger failed in %s and is dropped: %s", method, error)
            self.logger = None
