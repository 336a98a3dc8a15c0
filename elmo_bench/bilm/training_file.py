"""training.json of a biLM's folder: how it was trained; imports no torch."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from elmo_bench.records.reading import checked, read_object


class Measurement(BaseModel):
    """A row of the history: perplexity by part of the held-out text and direction."""

    model_config = ConfigDict(extra="allow")

    perplexity: dict[str, dict[str, float]]


class Training(BaseModel):
    """What the code reads of the file; everything else is for people."""

    model_config = ConfigDict(extra="allow")

    settings: dict[str, Any] = {}
    identity: dict[str, Any] = {}
    history: list[Measurement] = []


def read_training(folder: Path) -> Training:
    """Read the training.json of a folder."""
    path = folder / "training.json"
    return checked(Training, read_object(path), path)
