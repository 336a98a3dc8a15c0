"""The simulated GPU, installed at import: torch counts devices at its first backward pass."""

import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from filelock import FileLock
from pytorch_lightning import Trainer
from pytorch_lightning.plugins import MixedPrecision

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
    # Only tests that ask for it see it.
    torch.accelerator.current_accelerator = lambda check_available=False: None
    return simulated_gpu


SIMULATED = _installed()


def new_trainer(plugins: Any = (), precision: str = "32-true", **settings: Any) -> Trainer:
    """The simulated GPU's trainer, which alone would drop our plugins in mixed precision."""
    assert SIMULATED is not None
    plugins = list(plugins) if isinstance(plugins, list | tuple) else [plugins]
    if precision != "32-true":
        plugins.append(MixedPrecision(precision, "fakegpu"))
    return SIMULATED.new_trainer_class()(plugins=plugins, **settings)
