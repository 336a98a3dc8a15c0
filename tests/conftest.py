"""Fixtures shared by all tests."""

import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from elmo_bench.config.compose import run_settings
from elmo_bench.config.settings import RunSettings

# Before anything imports datasets or wandb: no test may touch the network.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["WANDB_MODE"] = "offline"
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # tests share the cores

hypothesis.settings.register_profile("untimed", deadline=None)  # other processes may be busy
hypothesis.settings.load_profile("untimed")

PROJECT = Path(__file__).parents[1]
SHARED = PROJECT.parent / "shared"


def shared(*parts: str) -> Path:
    """A file or folder of real data next to the checkout; the test is skipped if it is absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs ../shared/{'/'.join(parts)}")
    return path


# A run of any task in a second or two: a few generated examples, a tiny untrained biLM.
TINY = (
    "data.train=48",
    "data.dev=16",
    "data.test=16",
    "data.train_documents=3",
    "data.dev_documents=2",
    "data.test_documents=2",
    "data.corpus_tokens=2000",
    "data.heldout_tokens=500",
    "bilm.weights=random",
    "bilm.encoder.filters=[[1,4],[3,8]]",
    "bilm.lstm.hidden_dim=12",
    "bilm.lstm.projection_dim=6",
    "words.dim=10",
    "task.training.max_epochs=2",
    "trainer.accelerator=cpu",
    "trainer.threads=1",
    "trainer.progress_bar=false",
)


def paths_below(folder: Path) -> list[str]:
    """Overrides that make a run write everything in one folder."""
    return [f"paths.{name}={folder / name}" for name in ("results", "bilm", "cache", "outputs")]


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests, so that the benchmark is generated once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def tiny_run(tmp_path: Path, shared_cache: Path) -> Callable[..., RunSettings]:
    """Return a function for the settings of a tiny run that writes below tmp_path."""

    def tiny_settings(*overrides: str, folder: Path = tmp_path) -> RunSettings:
        paths = [*paths_below(folder), f"paths.cache={shared_cache}"]
        return run_settings([*TINY, *paths, *overrides])

    return tiny_settings
