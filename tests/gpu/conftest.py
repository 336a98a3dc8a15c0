"""Tests on the simulated GPU; they are skipped where it is absent.

It is installed when tests are collected, since torch counts devices at its first backward pass.
Only tests that ask for the fixture `gpu` see it.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch
from filelock import FileLock

from elmo_bench.config.settings import RunSettings
from tests.conftest import SHARED

FOLDER = SHARED / "tools" / "simulated_gpu"


def _installed() -> ModuleType | None:
    if not FOLDER.exists():
        return None
    sys.path.insert(0, str(FOLDER))
    import simulated_gpu

    with FileLock(Path(tempfile.gettempdir()) / "simulated_gpu.lock"):
        simulated_gpu.build()  # a minute at the first time, for one process
    simulated_gpu.install()
    torch.accelerator.current_accelerator = lambda check_available=False: None
    return simulated_gpu


SIMULATED = _installed()


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The simulated GPU, which `auto` and every Lightning trainer take."""
    if SIMULATED is None:
        pytest.skip("needs ../shared/tools/simulated_gpu")
    found = lambda check_available=False: SIMULATED.DEVICE  # noqa: E731
    monkeypatch.setattr(torch.accelerator, "current_accelerator", found)
    for package in ("runs", "pretraining"):
        trainer = f"elmo_bench.{package}.trainer.Trainer"
        monkeypatch.setattr(trainer, SIMULATED.new_trainer_class())
    return SIMULATED


@pytest.fixture
def gpu_run(gpu: ModuleType, tiny_run: Callable[..., RunSettings]) -> Callable[..., RunSettings]:
    """Settings of a tiny run on the simulated GPU."""

    def settings(*overrides: str, folder: Path) -> RunSettings:
        return tiny_run(*overrides, "trainer.accelerator=auto", folder=folder)

    return settings
