"""Rows of a dataset on the Hugging Face Hub, or of a local folder with the same layout.

Without a network, `datasets` retries for half a minute. So a cheap test checks first whether the
Hub can be reached, and `datasets` (a second to import) is not imported if it would fail anyway.
"""

import os
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies

from elmo_bench.data.files import DataError

_TIMEOUT = 0.8  # seconds to reach the Hub
_TRUE = {"1", "ON", "YES", "TRUE"}  # as huggingface_hub reads its environment
_HINT = "data=files data.dir=FOLDER reads your own copy of the corpus"


def load_rows(
    identifier: str, config: str | None, revision: str | None, split: str
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a split, with class labels as names.

    Args:
        identifier: An id such as `stanfordnlp/snli`, or the path of a folder with parquet files.
        config: The configuration of a dataset that has several.
        revision: A commit, tag or branch; ignored for a folder.
        split: The dataset's own name for the split.
    """
    folder = Path(identifier).expanduser()
    source = f"Hub dataset {identifier}"
    if folder.is_dir():
        identifier, revision = str(folder), None
    elif not is_reachable():
        if not _cached(identifier):
            problem = (
                f"the Hub cannot be reached (set HF_HUB_OFFLINE=0 to wait longer than "
                f"{_TIMEOUT} s), and no copy is cached; {_HINT}"
            )
            raise DataError(source, None, problem)
        _go_offline()
    from datasets import load_dataset

    try:
        rows = load_dataset(identifier, config, revision=revision, split=split)
    except Exception as error:  # datasets and its dependencies raise errors of many kinds
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DataError(source, None, f"cannot be loaded ({reason}); {_HINT}") from error
    decode = _decoder(rows.features)
    for row in rows:
        yield decode(row)


def is_reachable() -> bool:
    """Whether the Hub, or the proxy in front of it, answers; takes less than a second."""
    offline = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("HF_DATASETS_OFFLINE")
    if offline:
        return offline.upper() not in _TRUE
    endpoint = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    proxy = getproxies().get("https")
    target = urlsplit(proxy) if proxy else endpoint
    secure = target.scheme == "https" and not proxy
    answers: list[bool] = []
    # A DNS lookup has no timeout, so a thread that hangs in one is abandoned.
    attempt = Thread(target=lambda: answers.append(_answers(target, secure)), daemon=True)
    attempt.start()
    attempt.join(_TIMEOUT)
    return any(answers)


def _answers(target: SplitResult, secure: bool) -> bool:
    port = target.port or (443 if target.scheme == "https" else 80)
    try:
        with socket.create_connection((target.hostname or "", port), timeout=_TIMEOUT) as plain:
            if secure:  # a captive portal answers too, but is not the Hub
                context = ssl.create_default_context(cafile=os.environ.get("REQUESTS_CA_BUNDLE"))
                context.wrap_socket(plain, server_hostname=target.hostname).close()
        return True
    except OSError:
        return False


def _cached(identifier: str) -> bool:
    home = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "huggingface"
    datasets_cache = Path(os.environ.get("HF_HOME", home)) / "datasets"
    folder = Path(os.environ.get("HF_DATASETS_CACHE", datasets_cache)).expanduser()
    # The cache respells the name after the owner, so any dataset of that owner is worth a try.
    owner, slash, _ = identifier.partition("/")
    return any(folder.glob(f"{owner}___*" if slash else identifier))


def _go_offline() -> None:
    """Make `datasets` use its cached copy, even if it is already imported."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import datasets.config
    import huggingface_hub.constants

    datasets.config.HF_HUB_OFFLINE = True
    huggingface_hub.constants.HF_HUB_OFFLINE = True


def _decoder(feature: Any) -> Callable[[Any], Any]:
    """Return a function that replaces class numbers by names; -1 (no label) stays."""
    from datasets import ClassLabel, LargeList, List

    if isinstance(feature, ClassLabel):
        names = feature.names
        return lambda value: names[value] if isinstance(value, int) and value >= 0 else value
    if isinstance(feature, Mapping):
        decoders = {name: _decoder(part) for name, part in feature.items()}
        return lambda row: {name: decoders[name](value) for name, value in row.items()}
    if isinstance(feature, List | LargeList):
        item = _decoder(feature.feature)
        return lambda values: [item(value) for value in values or []]
    return lambda value: value
