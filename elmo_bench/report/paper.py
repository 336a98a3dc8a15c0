"""What the paper published, to stand beside what was run."""

from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from elmo_bench.config.compose import task_config, task_names

SOURCE = "Peters et al. (2018), on the paper's own corpora"


@cache
def title(task: str) -> str:
    """A task's full name; the short one where there is no yaml of it."""
    return str(task_config(task).title) if task in task_names() else task


@cache
def published(task: str) -> dict[str, float]:
    """Table 1: the scores of `baseline` and `elmo`; empty for a task that the paper lacks."""
    if task not in task_names():
        return {}
    return {str(arm): float(score) for arm, score in task_config(task).get("published", {}).items()}


@cache
def ablations(table: str) -> dict[str, dict[str, Any]]:
    """Tables 2, 3 and 7 (`layers`, `placement`, `words`): task -> column -> score."""
    tables = OmegaConf.to_container(OmegaConf.load(Path(__file__).with_name("paper.yaml")))
    assert isinstance(tables, dict)
    return {str(task): dict(scores) for task, scores in tables[table].items()}
