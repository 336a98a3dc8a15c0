"""Fixtures of tests on the simulated GPU, which are skipped where it is absent."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from pytorch_lightning import Callback

from elmo_bench.config.settings import RunSettings
from tests.gpu.simulated import SIMULATED, new_trainer


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The simulated GPU, which `auto` and every Lightning trainer take."""
    if SIMULATED is None:
        pytest.skip("needs ../shared/tools/simulated_gpu")
    found = lambda check_available=False: SIMULATED.DEVICE  # noqa: E731
    monkeypatch.setattr(torch.accelerator, "current_accelerator", found)
    for package in ("runs", "pretraining"):
        monkeypatch.setattr(f"elmo_bench.{package}.trainer.Trainer", new_trainer)
    return SIMULATED


@pytest.fixture
def gpu_run(gpu: ModuleType, tiny_run: Callable[..., RunSettings]) -> Callable[..., RunSettings]:
    """Settings of a tiny run on the simulated GPU."""

    def settings(*overrides: str, folder: Path) -> RunSettings:
        return tiny_run(*overrides, "trainer.accelerator=auto", folder=folder)

    return settings


@pytest.fixture
def step_counts(gpu: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Launches and syncs of every training step of a run or a pretraining, as it goes on."""
    counted: list[Any] = []

    class Count(Callback):
        def on_train_batch_start(self, *_: Any) -> None:
            gpu.Counts()

        def on_train_batch_end(self, *_: Any) -> None:
            counted.append(gpu.Counts())

    def with_count(callbacks: list[Callback], **settings: Any) -> Any:
        return new_trainer(callbacks=[Count(), *callbacks], **settings)

    for package in ("runs", "pretraining"):
        monkeypatch.setattr(f"elmo_bench.{package}.trainer.Trainer", with_count)
    return counted
