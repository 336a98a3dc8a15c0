"""Datasets of the Hugging Face Hub, or local folders with the same layout.

Without a network, `datasets` retries for half a minute. So a cheap test checks first whether the
Hub can be reached, and `datasets` (a second to import) is not imported if it would fail anyway.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo_bench.data import network
from elmo_bench.data.files import DataError

_TRUE = {"1", "ON", "YES", "TRUE"}  # as huggingface_hub reads its environment
_FILES = "data=files data.dir=FOLDER reads your own copy of the corpus"


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
    rows = open_dataset(identifier, config, revision, split)
    decode = _decoder(rows.features)
    for row in rows:
        yield decode(row)


def open_dataset(
    identifier: str,
    config: str | None,
    revision: str | None,
    split: str,
    streaming: bool = False,
    way_out: str = _FILES,
) -> Any:
    """A split of a dataset, as `datasets` opens it; a DataError ends with the way out."""
    check_available(identifier, way_out)
    folder = Path(identifier).expanduser()
    source = f"Hub dataset {identifier}"
    if folder.is_dir():
        identifier, revision = str(folder), None
    elif not is_reachable():
        _go_offline()
    from datasets import load_dataset

    try:
        return load_dataset(identifier, config, revision=revision, split=split, streaming=streaming)
    except Exception as error:  # datasets and its dependencies raise errors of many kinds
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DataError(source, None, f"cannot be loaded ({reason}); {way_out}") from error


def check_available(identifier: str, way_out: str = _FILES) -> None:
    """Raise unless a dataset is a folder, can be downloaded, or may be in the local cache."""
    if Path(identifier).expanduser().is_dir() or is_reachable() or _cached(identifier):
        return
    problem = (
        f"the Hub cannot be reached (set HF_HUB_OFFLINE=0 to wait longer than {network.TIMEOUT} s)"
        f", and no copy is cached; {way_out}"
    )
    raise DataError(f"Hub dataset {identifier}", None, problem)


def is_reachable() -> bool:
    """Whether the Hub can be used; takes less than a second."""
    offline = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("HF_DATASETS_OFFLINE")
    if offline:
        return offline.upper() not in _TRUE
    return network.is_reachable(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")


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
