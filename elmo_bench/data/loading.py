"""Where the examples of a split come from: the mini benchmark, the user's files, or the Hub."""

import glob
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from elmo_bench.data.example import Example, Skipped, Split
from elmo_bench.data.files import DataError

_NOT_OF_THE_MINI = ("name", "train_limit", "train_fraction")  # they do not change what is generated


@runtime_checkable
class Reader(Protocol):
    """What loading asks of a task: to read its corpus's format, and rows of a Hub dataset."""

    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]: ...

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, skipped: Skipped
    ) -> Iterator[Example]: ...


def load_split(
    reader: Reader,
    settings: Mapping[str, Any],
    data: Mapping[str, Any],
    split: Split,
    cache: Path,
) -> tuple[list[Example], Skipped]:
    """Load a whole split, and count what its readers passed over.

    Args:
        reader: The task, which reads the files or rows.
        settings: The task's yaml: `name`, `files` and `hub`.
        data: The chosen data option: `name` (mini, files or hub) and its settings.
        split: Which split; `train_limit` and `train_fraction` cut the train split alone.
        cache: Where the mini benchmark is kept once it is generated.
    """
    skipped: Skipped = Counter()
    if data["name"] == "hub":
        examples = list(_from_hub(reader, settings["hub"], split, skipped))
    else:
        paths = split_files(settings, data, split, cache)
        examples = [example for path in paths for example in reader.read(path, split, skipped)]
    _check_ids(examples, split)
    if not examples:
        raise DataError(f"{settings['name']} {split}", None, f"nothing was read: {dict(skipped)}")
    if split == "train":
        examples = _cut(examples, data["train_limit"], data["train_fraction"])
    return examples, skipped


def _from_hub(
    reader: Reader, hub: Mapping[str, Any], split: Split, skipped: Skipped
) -> Iterator[Example]:
    from elmo_bench.data.hub import load_rows

    rows = load_rows(hub["id"], hub["config"], hub["revision"], hub["splits"][split])
    try:
        yield from reader.from_hub(rows, split, skipped)
    except (LookupError, TypeError, AttributeError) as error:
        problem = f"its rows are not as expected ({type(error).__name__}: {error})"
        raise DataError(f"Hub dataset {hub['id']}", None, problem) from error


def split_files(
    settings: Mapping[str, Any], data: Mapping[str, Any], split: Split, cache: Path
) -> list[Path]:
    """The files of a split, for the mini benchmark and the user's own."""
    if data["name"] == "mini":
        from elmo_bench.mini.files import ensure_mini
        from elmo_bench.mini.settings import MiniSettings

        made_of = {key: value for key, value in data.items() if key not in _NOT_OF_THE_MINI}
        folder = ensure_mini(cache, MiniSettings(**made_of)) / settings["name"]
        return _by_pattern(folder, settings["files"][split], "was the cache changed by hand?")
    named = data[split]
    if named is not None:
        names = [named] if isinstance(named, str) else list(named)
        return [path for name in names for path in _named(name, f"data.{split}")]
    if data["dir"] is None:
        raise DataError(
            "data=files", None, f"name a folder with data.dir=..., or a file with data.{split}=..."
        )
    folder = Path(data["dir"]).expanduser()
    return _by_pattern(folder, settings["files"][split], f"data.{split}=FILE names one")


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

    A fraction is drawn by the hash of the ids, so it is the same for every model and seed, and
    holds every smaller fraction.
    """
    if fraction < 1:
        kept = math.ceil(len(examples) * fraction)
        order = sorted(range(len(examples)), key=lambda index: _hash(examples[index].id))
        examples = [examples[index] for index in sorted(order[:kept])]
    return examples[:limit]


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
