"""Whether Weights & Biases can be used online, found out in a moment; imports no torch."""

import netrc
import os
from urllib.parse import urlsplit

from elmo_bench.config.settings import LoggerSettings, WandbLogger
from elmo_bench.data.network import is_reachable
from elmo_bench.errors import UserError

_OFFLINE = "or take logger.mode=offline, and upload the run later"


def check_logger(logger: LoggerSettings) -> None:
    """Raise if W&B is to be online and cannot be: it would wait for minutes and start nothing."""
    if not isinstance(logger, WandbLogger) or logger.mode != "online":
        return
    if not _has_key():
        raise UserError(
            f"logger.mode=online: there is no key for {_server()}; call `wandb login` or set "
            f"WANDB_API_KEY, {_OFFLINE}"
        )
    if not is_reachable(_server()):
        raise UserError(
            f"logger.mode=online: {_server()} cannot be reached; check the network, {_OFFLINE}"
        )


def is_usable() -> bool:
    """Whether there are a key and a network, which is tried only with a key."""
    return _has_key() and is_reachable(_server())


def _server() -> str:
    return os.environ.get("WANDB_BASE_URL") or "https://api.wandb.ai"


def _has_key() -> bool:
    if os.environ.get("WANDB_API_KEY"):
        return True
    try:
        return netrc.netrc().authenticators(urlsplit(_server()).hostname or "") is not None
    except (OSError, netrc.NetrcParseError):
        return False
