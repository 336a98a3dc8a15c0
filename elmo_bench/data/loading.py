"""Loading the examples of a split: from the mini benchmark, the user's files, or the Hub."""

import glob
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from elmo_bench.config.folders import TASKS
from elmo_bench.config.settings import (
    DataSettings,
    FilesData,
    HubData,
    HubDataset,
    MiniData,
    TaskSettings,
)
from elmo_bench.data.example import Example, Skipped, Split
from elmo_bench.data.files import DataError
from elmo_bench.mini.settings import MiniSettings


@runtime_checkable
class Reader(Protocol):
    """What loading needs of a task: to read its corpus's format, and rows of a Hub dataset."""

    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]: ...

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, skipped: Skipped
    ) -> Iterator[Example]: ...


def load_split(
    reader: Reader, task: TaskSettings, data: DataSettings, split: Split, cache: Path
) -> tuple[list[Example], Skipped]:
    """Load a whole split, and count what its readers skipped.

    Args:
        reader: The task, which reads the files or rows.
        task: Its settings: how its files are named, and its Hub dataset.
        data: Where the corpus is.
        split: Which split; `train_limit` and `train_fraction` cut the train split only.
        cache: Where the mini benchmark is kept once it is generated.
    """
    skipped: Skipped = Counter()
    if isinstance(data, HubData):
        assert task.hub is not None
        examples = list(_from_hub(reader, task.hub, split, skipped))
    else:
        paths = split_files(task, data, split, cache)
        examples = [example for path in paths for example in reader.read(path, split, skipped)]
    _check_ids(examples, split)
    if not examples:
        raise DataError(f"{task.name} {split}", None, f"nothing was read: {dict(skipped)}")
    if split == "train":
        examples = _cut(examples, data.train_limit, data.train_fraction)
    return examples, skipped


def _from_hub(reader: Reader, hub: HubDataset, split: Split, skipped: Skipped) -> Iterator[Example]:
    from elmo_bench.data.hub import load_rows

    if hub.id is None:  # refused in the settings of runs
        raise DataError("data=hub", None, "task.hub.id names no dataset; use data=files")
    rows = load_rows(hub.id, hub.config, hub.revision, hub.splits[split])
    try:
        yield from reader.from_hub(rows, split, skipped)
    except (LookupError, TypeError, AttributeError) as error:
        problem = f"its rows are not as expected ({type(error).__name__}: {error})"
        raise DataError(f"Hub dataset {hub.id}", None, problem) from error


def mini_settings(data: MiniData) -> MiniSettings:
    """What the benchmark is generated from; the other keys only cut the training split."""
    cuts = {"kind", "name", "train_limit", "train_fraction"}
    return MiniSettings(**data.model_dump(exclude=cuts))


def split_files(
    task: TaskSettings, data: MiniData | FilesData, split: Split, cache: Path
) -> list[Path]:
    """The files of a split, for the mini benchmark and the user's own."""
    if isinstance(data, MiniData):
        folder = _mini_folder(task, data, cache)
        return _by_pattern(folder, task.files[split], f"see task.files.{split}")
    named = {"train": data.train, "dev": data.dev, "test": data.test}[split]
    if named is not None:
        names = [named] if isinstance(named, str) else named
        return [path for name in names for path in _named(name, f"data.{split}")]
    if data.dir is None:
        raise DataError(
            "data=files", None, f"name a folder with data.dir=..., or a file with data.{split}=..."
        )
    folder = Path(data.dir).expanduser()
    return _by_pattern(folder, task.files[split], f"data.{split}=FILE names one")


def _mini_folder(task: TaskSettings, data: MiniData, cache: Path) -> Path:
    """The task's part of the benchmark, or the sample files of a task that has none."""
    from elmo_bench.mini import files

    if task.name in files.TASKS:
        return files.ensure_mini(cache, mini_settings(data)) / task.name
    sample = TASKS / task.name / "sample"
    if not sample.is_dir():
        way_out = "put sample files there, or use data=files"
        raise DataError(
            sample, None, f"no such folder, and the mini benchmark has no {task.name}; {way_out}"
        )
    return sample


def _named(name: str, key: str) -> list[Path]:
    path = Path(name).expanduser()
    if path.is_file():
        return [path]
    found = sorted(Path(match) for match in glob.glob(str(path), recursive=True))
    found = [match for match in found if match.is_file()]
    if not found:
        raise DataError(path, None, f"there is no such file ({key})")
    return found


def _by_pattern(folder: Path, patterns: Sequence[str], way_out: str) -> list[Path]:
    """The files of the first pattern that has any; a .gz beside its own plain copy is left."""
    if not folder.is_dir():
        raise DataError(folder, None, "there is no such folder (data.dir)")
    for pattern in patterns:
        plain = {path for path in folder.glob(pattern) if path.is_file()}
        packed = {path for path in folder.glob(pattern + ".gz") if path.is_file()}
        found = sorted(plain | {path for path in packed if path.with_suffix("") not in plain})
        if len(found) > 1 and "**" not in pattern:  # only whole trees are meant to be many files
            names = ", ".join(path.name for path in found)
            raise DataError(
                folder, None, f"several files are named like {pattern}: {names}; {way_out}"
            )
        if found:
            return found
    problem = f"no file here is named like {' or '.join(patterns)}, plain or .gz; {way_out}"
    raise DataError(folder, None, problem)


def _check_ids(examples: Iterable[Example], split: Split) -> None:
    seen: set[str] = set()
    for example in examples:
        if example.id in seen:
            problem = "two examples have this id; is a file named twice?"
            raise DataError(f"{split} split, example {example.id}", None, problem)
        seen.add(example.id)


def _cut(examples: list[Example], limit: int | None, fraction: float) -> list[Example]:
    """The first `limit` examples of a `fraction` of them.

    A fraction is drawn by the hash of the places, so it is the same for every model and seed, and
    holds every smaller fraction.
    """
    if fraction < 1:
        kept = math.ceil(len(examples) * fraction)
        order = sorted(range(len(examples)), key=lambda index: _hash(str(index)))
        examples = [examples[index] for index in sorted(order[:kept])]
    return examples[:limit]


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
