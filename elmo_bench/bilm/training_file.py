"""training.json of a biLM's folder: how it was trained; imports no torch."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from elmo_bench.records.reading import checked, read_object


class Measurement(BaseModel):
    """A row of the history: perplexity by part of the held-out text and direction."""

    model_config = ConfigDict(extra="allow")

    step: int = Field(0, ge=0)
    perplexity: dict[str, dict[str, float]]


class Training(BaseModel):
    """What the code reads of the file; everything else is for people."""

    model_config = ConfigDict(extra="allow")

    steps: int = Field(0, ge=0)
    tokens: int = Field(0, ge=0)  # that these steps read
    settings: dict[str, Any] = {}
    identity: dict[str, Any] = {}
    history: list[Measurement] = []
    losses: list[tuple[int, float]] = []  # step, mean training loss since the point before


def read_training(folder: Path) -> Training:
    """Read the training.json of a folder."""
    path = folder / "training.json"
    return checked(Training, read_object(path), path)
