"""Small tasks and models, and ELMo vectors for them."""

import zlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from elmo_bench.config.compose import task_settings
from elmo_bench.config.locating import build_task
from elmo_bench.data.example import Example, distinct_segments
from elmo_bench.nn.word_embedding import random_words
from elmo_bench.task import Batch, Task

ELMO_DIM = 6
SMALL: dict[str, dict[str, Any]] = {  # sizes for which a model is trained in a second
    "ner": {"hidden_dims": [16, 12], "dropout": 0.2},
    "sst5": {
        "hidden_dim": 12,
        "embedding_dropout": 0.1,
        "feedforward_dropout": 0.1,
        "head_dims": [16, 12],
        "head_dropout": [0.1, 0.0, 0.0],
    },
    "snli": {
        "hidden_dim": 8,
        "input_dropout": 0.1,
        "head_dropout": 0.1,
        "elmo_attention_dropout": 0.1,
    },
    "squad": {"hidden_dim": 12, "char_filters": [[5, 8]]},
    "srl": {"predicate_dim": 4, "hidden_dim": 16, "num_layers": 3},
    "coref": {
        "char_filters": [[3, 6]],
        "hidden_dim": 8,
        "scorer_dim": 12,
        "feature_dim": 3,
        "max_width": 4,
        "spans_per_word": 2.0,
        "lexical_dropout": 0.1,
        "dropout": 0.1,
    },
}

_settings = cache(task_settings)


def metric_of(name: str) -> str:
    """The metric that selects the task's checkpoints."""
    return _settings(name).metric


def new_task(name: str, **changes: Any) -> Any:
    """A task as its yaml describes it, in a small size, with some settings changed."""
    build = _settings(name).build
    return build_task(type(build).model_validate(build.plain() | SMALL[name] | changes))


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
