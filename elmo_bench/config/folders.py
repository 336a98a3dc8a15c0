"""The project's own folders, in a checkout and in an installed package."""

import os
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
CONF = PACKAGE / "conf"  # in a checkout a link to conf/ next to the package
TASKS = PACKAGE / "tasks"  # likewise a link, to tasks/
SHIPPED_BILMS = PACKAGE / "shipped"  # likewise, links to the shipped ones of results/bilm


def find_bilm(name: str | Path) -> Path:
    """The checkpoint folder at this path, or of this name in results/bilm."""
    places = Path(name).expanduser(), Path("results/bilm") / name, SHIPPED_BILMS / name
    candidates = list(dict.fromkeys(places))  # an absolute path is the same everywhere
    for folder in candidates:
        if (folder / "config.yaml").is_file():
            return folder
    raise FileNotFoundError(
        f"no biLM checkpoint at {' or '.join(str(folder) for folder in candidates)} "
        f"(a folder with a config.yaml). Make one with: python pretrain.py bilm={Path(name).name}"
    )


def options(group: str) -> list[str]:
    """The options of a config group, by name."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def cache_folder() -> Path:
    """The folder for compiled kernels and downloaded models."""
    folder = os.environ.get("ELMO_BENCH_CACHE") or "~/.cache/elmo_bench"
    return Path(folder).expanduser()
