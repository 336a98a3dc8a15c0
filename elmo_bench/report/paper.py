"""What the paper published, to show beside what was run."""

from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from elmo_bench.config.folders import CONF

SOURCE = "Peters et al. (2018), on the paper's own corpora"


@cache
def _task_yaml(task: str) -> dict[str, Any]:
    """A task's own yaml; title and published scores are never overridden by other files."""
    path = CONF / "task" / f"{task}.yaml"
    content = OmegaConf.to_container(OmegaConf.load(path)) if path.exists() else {}
    assert isinstance(content, dict)
    return {str(key): value for key, value in content.items()}


def title(task: str) -> str:
    """A task's full name; the short one if it has no yaml."""
    return str(_task_yaml(task).get("title", task))


def published(task: str) -> dict[str, float]:
    """Table 1: the scores of `baseline` and `elmo`; empty for a task that the paper lacks."""
    scores = _task_yaml(task).get("published") or {}
    return {str(arm): float(score) for arm, score in scores.items()}


def authors_finetuned(task: str) -> bool:
    """Whether the authors fine-tuned the biLM on the task's text for Table 1."""
    return bool((_task_yaml(task).get("elmo") or {}).get("finetune"))


@cache
def ablations(table: str) -> dict[str, dict[str, Any]]:
    """Tables 2, 3 and 7 (`layers`, `placement`, `words`) and others: task -> column -> score."""
    tables = OmegaConf.to_container(OmegaConf.load(Path(__file__).with_name("paper.yaml")))
    assert isinstance(tables, dict)
    return {str(task): dict(scores) for task, scores in tables[table].items()}
