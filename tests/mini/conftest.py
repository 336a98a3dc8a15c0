"""The benchmark, written once for all tests in a process without run-time type checks."""

import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from elmo_bench.mini.settings import MiniSettings

# Tasks have their default sizes; the corpus is only as large as the claims need.
SETTINGS = MiniSettings(corpus_tokens=300_000, heldout_tokens=30_000)


def write_elsewhere(folder: Path, settings: MiniSettings, hash_seed: str = "0") -> None:
    """Write the benchmark in a separate process."""
    code = (
        "from pathlib import Path\n"
        "from elmo_bench.mini.files import write_mini\n"
        "from elmo_bench.mini.settings import MiniSettings\n"
        f"write_mini(Path({str(folder)!r}), MiniSettings(**{asdict(settings)!r}))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.fixture(scope="session")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mini")
    write_elsewhere(folder, SETTINGS)
    return folder
