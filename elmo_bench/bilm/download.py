"""The official models by name: files in a local folder, downloaded once if missing."""

import urllib.request
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from elmo_bench.config.bilm_settings import Architecture, BilmSettings
from elmo_bench.config.compose import options, pretrain_settings
from elmo_bench.config.folders import cache_folder
from elmo_bench.data.network import is_reachable
from elmo_bench.errors import UserError
from elmo_bench.records.atomic import replace_file

_SECONDS = 30  # timeout for a response
_PIECE = 1 << 20


def published_settings(name: str) -> BilmSettings | None:
    """The settings in conf/bilm/<name>.yaml if it describes a published model, else None."""
    if not name.startswith("official_") or name not in options("bilm"):
        return None
    return pretrain_settings([f"bilm={name}", "pretraining=original"]).bilm


def published_files(settings: BilmSettings) -> tuple[Path, Path]:
    """Options and weights files named by a config such as conf/bilm/official_small.yaml."""
    assert settings.official is not None
    options, weights = (fetch(settings.official.url, path) for path in published_paths(settings))
    return options, weights


def published_paths(settings: BilmSettings) -> list[Path]:
    """Where options and weights of a published model are, or would be downloaded to."""
    files, chosen = settings.official, settings.weights
    assert files is not None
    folder = Path(chosen).expanduser() if chosen else cache_folder() / "official"
    return [folder / files.options, folder / files.weights]


def check_sizes(path: Path, found: Architecture, expected: Architecture) -> None:
    """Reject files that describe a different model than the config does."""
    for part in ("encoder", "lstm"):
        there, here = getattr(found, part).plain(), getattr(expected, part).plain()
        for key, value in here.items():
            if key != "dropout" and there[key] != value:
                raise UserError(
                    f"{path}: its {part}.{key} is {there[key]}, but bilm={expected.name} "
                    f"has {value}. Does the file belong to another model?"
                )


def fetch(url: str, path: Path) -> Path:
    """Return the path, after downloading a file of the same name to it if it is missing."""
    if path.exists():
        return path
    source = f"{url.rstrip('/')}/{path.name}"
    try:
        with replace_file(path) as unfinished:
            _download(source, unfinished)
    except OSError as error:  # urllib's errors are OSErrors too
        raise FileNotFoundError(
            f"{path} does not exist, and {source} could not be downloaded ({error}). "
            f"Download it on another machine and set bilm.weights to the folder that contains it."
        ) from error
    return path


def _download(source: str, path: Path) -> None:
    if not is_reachable(source):
        raise OSError("its server cannot be reached")
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
        raise OSError(f"only {received} of {total} bytes were received")
