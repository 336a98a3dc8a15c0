"""The official models by name: files of a local folder, downloaded once where they are missing."""

import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from elmo_bench.bilm.kernels.library import cache_folder
from elmo_bench.config.compose import PROJECT, read_option
from elmo_bench.records.files import replace_file

_SECONDS = 30  # without an answer
_PIECE = 1 << 20


def published_settings(name: str) -> dict[str, Any] | None:
    """What conf/bilm/<name>.yaml says, if it is a published model's."""
    path = PROJECT / "conf" / "bilm" / f"{name}.yaml"
    if not (name.startswith("official_") and path.exists()):
        return None
    settings = OmegaConf.to_container(read_option(path))
    assert isinstance(settings, dict)
    return {str(key): value for key, value in settings.items()}


def published_files(settings: Mapping[str, Any]) -> tuple[Path, Path]:
    """Options and weights that a config such as conf/bilm/official_small.yaml names."""
    files, chosen = settings["official"], settings["weights"]
    folder = Path(chosen).expanduser() if chosen else cache_folder() / "official"
    options = fetch(files["url"], files["options"], folder)
    return options, fetch(files["url"], files["weights"], folder)


def check_sizes(path: Path, found: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Refuse files that describe another model than the config does."""
    for part in ("encoder", "lstm"):
        for key, expected in settings[part].items():
            if key != "dropout" and found[part][key] != expected:
                raise ValueError(
                    f"{path}: its {part}.{key} is {found[part][key]}, but bilm={settings['name']} "
                    f"has {expected}. Is it the file of another model?"
                )


def fetch(url: str, name: str, folder: Path) -> Path:
    """The file of this name in the folder, downloaded into it first if it is missing."""
    path = folder / name
    if path.exists():
        return path
    source = f"{url.rstrip('/')}/{name}"
    try:
        with replace_file(path) as unfinished:
            _download(source, unfinished)
    except OSError as error:  # urllib's errors are OSErrors too
        raise FileNotFoundError(
            f"{path} does not exist, and {source} could not be downloaded ({error}). "
            f"Get it on another machine and set bilm.weights to the folder it is in."
        ) from error
    return path


def _download(source: str, path: Path) -> None:
    columns = ("{task.description}", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with urllib.request.urlopen(source, timeout=_SECONDS) as answer, Progress(*columns) as progress:
        length = answer.headers.get("Content-Length")
        total = int(length) if length else None
        bar = progress.add_task(Path(source).name, total=total)
        received = 0
        with path.open("wb") as file:
            while piece := answer.read(_PIECE):
                file.write(piece)
                received += len(piece)
                progress.update(bar, completed=received)
    if total is not None and received != total:
        raise OSError(f"only {received} of {total} bytes came")
