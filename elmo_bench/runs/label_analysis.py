"""What a run got right and wrong on the test split: by label, and by kind of example."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from elmo_bench.data.example import Example
from elmo_bench.records.labels import Pair, confusion, label_scores, paired
from elmo_bench.task import Task


class LabelAnalysis(TypedDict):
    """Fields of the record; all are empty for a task without labels and kinds."""

    labels: dict[str, dict[str, float | int]]
    confusion: dict[str, dict[str, int]]
    kinds: dict[str, dict[str, float | int]]


def label_pairs(task: Task, example: Example, prediction: Any) -> dict[str, Pair]:
    """Gold and predicted labels of an example, by place."""
    return paired(task.labels(example, task.gold(example)), task.labels(example, prediction))


def analyze(
    task: Task, metric: str, examples: Sequence[Example], predictions: Mapping[str, Any]
) -> LabelAnalysis:
    """Score each label and each kind of examples.

    Args:
        task: The task.
        metric: The score shown for each kind.
        examples: The test split.
        predictions: By the id of the example.
    """
    confusions = confusion(
        pair
        for example in examples
        for pair in label_pairs(task, example, predictions[example.id]).values()
    )
    members: defaultdict[str, list[Example]] = defaultdict(list)
    for example in examples:
        members[task.kind(example)].append(example)
    kinds: dict[str, dict[str, float | int]] = {}
    if len(members) > 1:
        for kind, group in sorted(members.items()):
            score = task.score(group, [predictions[example.id] for example in group])[metric]
            kinds[kind] = {"examples": len(group), metric: score}
    return {"labels": label_scores(confusions), "confusion": confusions, "kinds": kinds}
