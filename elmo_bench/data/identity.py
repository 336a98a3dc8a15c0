"""The identity of a task's corpus: what its files contain, not where they are."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from elmo_bench.config.identity import what_counts
from elmo_bench.config.settings import (
    DataSettings,
    FilesData,
    HubData,
    MiniData,
    Split,
    TaskSettings,
)
from elmo_bench.data.files import DataError
from elmo_bench.data.loading import mini_settings, split_files
from elmo_bench.mini.files import TASKS as MINI_TASKS
from elmo_bench.mini.settings import VERSION as MINI_VERSION
from elmo_bench.records.remembered import content_digest


def data_identity(task: TaskSettings, data: DataSettings, cache: Path) -> dict[str, Any]:
    """What the examples depend on.

    A Hub dataset is known by its revision only: a commit is exact, a branch may move.

    Args:
        task: How its files are named, and its Hub dataset.
        data: Where the corpus is.
        cache: Where digests are remembered.
    """
    content: dict[str, Any]
    match data:
        case MiniData() if task.name not in MINI_TASKS:  # it reads its own sample files
            content = {split: _digest(task, data, split, cache) for split in get_args(Split)}
        case MiniData():
            content = {"version": MINI_VERSION, **asdict(mini_settings(data))}
        case FilesData():
            content = {split: _digest(task, data, split, cache) for split in get_args(Split)}
        case HubData():
            assert task.hub is not None
            content = what_counts(task.hub, content=str)
    cut = {"train_limit": data.train_limit, "train_fraction": data.train_fraction}
    return {"kind": data.kind, **content, **cut}


def _digest(
    task: TaskSettings, data: MiniData | FilesData, split: Split, cache: Path
) -> str | None:
    """None if files are missing, which is reported when they are to be read."""
    try:
        return content_digest(split_files(task, data, split, cache), digests(cache))
    except (DataError, OSError):
        return None


def file_digest(path: str, cache: Path) -> str | None:
    """The digest of a file that settings name; None if it is missing."""
    try:
        return content_digest([Path(path).expanduser()], digests(cache))
    except OSError:
        return None


def digests(cache: Path) -> Path:
    """Where digests of large files are remembered."""
    return cache / "digests"
