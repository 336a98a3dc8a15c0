"""Tests on the simulated GPU; they are skipped where it is absent."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

from elmo_bench.config.settings import RunSettings
from tests.conftest import shared


@pytest.fixture(scope="session")
def installed() -> ModuleType:
    """The simulated GPU, built if it was never used; unseen by tests that do not ask for it."""
    folder = shared("tools", "simulated_gpu")
    sys.path.insert(0, str(folder))
    import simulated_gpu

    simulated_gpu.install()
    torch.accelerator.current_accelerator = lambda check_available=False: None
    return simulated_gpu


@pytest.fixture
def gpu(installed: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The simulated GPU, which `auto` and every Lightning trainer take."""
    found = lambda check_available=False: installed.DEVICE  # noqa: E731
    monkeypatch.setattr(torch.accelerator, "current_accelerator", found)
    for package in ("runs", "pretraining"):
        trainer = f"elmo_bench.{package}.trainer.Trainer"
        monkeypatch.setattr(trainer, installed.new_trainer_class())
    return installed


@pytest.fixture
def gpu_run(gpu: ModuleType, tiny_run: Callable[..., RunSettings]) -> Callable[..., RunSettings]:
    """Settings of a tiny run on the simulated GPU."""

    def settings(*overrides: str, folder: Path) -> RunSettings:
        return tiny_run(*overrides, "trainer.accelerator=auto", folder=folder)

    return settings
