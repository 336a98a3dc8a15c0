"""Short names for groups of runs in figures and lists."""

from collections import Counter
from collections.abc import Sequence

from elmo_bench.report.differences import differences
from elmo_bench.report.groups import Group


def short_labels(groups: Sequence[Group], separator: str = "\n") -> list[str]:
    """The task, and below it only what is needed to distinguish the groups."""
    labels = [[group.task] for group in groups]
    parts = (
        [group.corpus for group in groups],
        [group.any_record.words for group in groups],
        [group.bilm for group in groups],
        [group.any_record.elmo for group in groups],
        [group.source for group in groups],
        differences(groups),
    )
    for texts in parts:
        count = Counter(tuple(label) for label in labels)
        for task in {group.task for group in groups}:
            members = [i for i, group in enumerate(groups) if group.task == task]
            ambiguous = any(count[tuple(labels[i])] > 1 for i in members)
            if ambiguous and len({texts[i] for i in members}) > 1:
                for i in members:
                    labels[i].append(texts[i])
    return [separator.join(part for part in label if part) for label in labels]
