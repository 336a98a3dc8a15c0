"""What a result may depend on besides its settings: versions, platform, commit."""

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "torch",
    "pytorch-lightning",
    "hydra-core",
    "datasets",
    "seqeval",
    "wandb",
    "numpy",
    "transformers",  # None where it is not installed
)


def environment() -> dict[str, Any]:
    """Versions of Python and packages, the platform, and the commit of the checkout."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "commit": _git_commit(),
        "packages": {name: _package_version(name) for name in PACKAGES},
    }


def _package_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _git_commit() -> str | None:
    """The checkout's commit, with a + when files differ from it."""
    root = Path(__file__).parents[2]
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip()
