"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest

# Before anything imports datasets or wandb: no test may touch the network.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["WANDB_MODE"] = "offline"

PROJECT = Path(__file__).parents[1]
SHARED = PROJECT.parent / "shared"


def shared(*parts: str) -> Path:
    """A file or folder of real data beside the checkout; the test is skipped where it is absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs ../shared/{'/'.join(parts)}")
    return path
