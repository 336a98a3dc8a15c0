"""Small tasks, examples and models, and ELMo vectors for them."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from elmo_bench.config.compose import run_settings
from elmo_bench.config.locating import build_task
from elmo_bench.config.settings import RunSettings
from elmo_bench.data.example import Example, distinct_segments
from elmo_bench.data.loading import load_split
from elmo_bench.nn.word_embedding import random_words
from elmo_bench.task import Batch, Task, collate

ELMO_DIM = 6
NUM_EXAMPLES = 4  # of a task whose case has none


@dataclass(frozen=True)
class Case:
    """What cases/<task>.py may define as CASE; a task can do without."""

    sizes: dict[str, Any] = field(default_factory=dict)  # of a model that is trained in a second
    examples: list[Example] = field(default_factory=list)
    mistaken: list[Any] = field(default_factory=list)  # predictions of which some are right
    variants: Sequence[dict[str, Any]] = ({},)  # changes of the settings


@cache
def _settings(name: str) -> RunSettings:
    return run_settings([f"task={name}"])


@cache
def case_of(name: str) -> Case:
    """The task's own case; without one it is tested with its sample."""
    if Path(__file__).with_name("cases").joinpath(f"{name}.py").exists():
        case: Case = import_module(f"tests.tasks.cases.{name}").CASE
        return case
    return Case()


def placements_of(name: str) -> Sequence[str]:
    """Where the task's model takes ELMo vectors."""
    return _settings(name).task.build.placements


@cache
def examples_of(name: str) -> list[Example]:
    """A few examples of a task: those of its case, or the first that its sample has."""
    if case_of(name).examples:
        return case_of(name).examples
    settings = _settings(name)
    cache_folder = Path(settings.paths.cache)
    examples, _ = load_split(new_task(name), settings.task, settings.data, "train", cache_folder)
    return examples[:NUM_EXAMPLES]


def mistaken_of(name: str) -> list[Any]:
    """Predictions of which some are right: those of its case, or those of an untrained model."""
    if case_of(name).mistaken:
        return case_of(name).mistaken
    task, examples = new_task(name), examples_of(name)
    guesses = new_model(task, examples).eval()(collate(examples), {}).predictions
    return [task.gold(examples[0]), *guesses[1:]]


def metric_of(name: str) -> str:
    """The metric that selects the task's checkpoints."""
    return _settings(name).task.metric


def new_task(name: str, **changes: Any) -> Any:
    """A task as its yaml describes it, in a small size, with some settings changed."""
    build = _settings(name).task.build
    return build_task(type(build).model_validate(build.plain() | case_of(name).sizes | changes))


def new_model(task: Task, examples: Sequence[Example], placements: Sequence[str] = ()) -> nn.Module:
    """An untrained model of the task, the same with every call."""
    torch.manual_seed(1)
    words = random_words(distinct_segments(examples), 8, True, min_count=1, word_dropout=0.0)
    elmo_dims = dict.fromkeys(placements, ELMO_DIM)
    return task.build_model(words, elmo_dims, task.label_vocabulary(examples))


def elmo_of(batch: Batch, placements: Sequence[str]) -> dict[str, Tensor]:
    """Vectors that depend only on the segment, with garbage in the padding."""
    vectors = torch.full((*batch.mask.shape, ELMO_DIM), 1e4)
    for row, segment in enumerate(batch.segments):
        generator = torch.Generator().manual_seed(zlib.crc32(" ".join(segment).encode()))
        vectors[row, : len(segment)] = torch.randn(len(segment), ELMO_DIM, generator=generator)
    both = {"input": vectors, "output": -vectors}
    return {placement: both[placement] for placement in placements}
