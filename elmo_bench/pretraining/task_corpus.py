"""The text of a task without its labels, as a corpus to fine-tune a biLM on."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo_bench.config.compose import build
from elmo_bench.data.example import Segment, Split, distinct_segments
from elmo_bench.data.loading import load_split
from elmo_bench.pretraining.corpus import Sentence
from elmo_bench.records.digest import digest
from elmo_bench.task import Task


class TaskCorpus:
    """The segments of a task's training split, and those of its dev split to measure on.

    A segment within the one before it is left out: a phrase of a sentence adds no text. Whatever
    part of the labels a run trains on, the text is all there.

    Args:
        name: How records call this corpus.
        task: The task's `name`, `build`, `files` and `hub`.
        data: The data option.
        cache: Where the mini benchmark is kept.
    """

    def __init__(
        self, name: str, task: Mapping[str, Any], data: Mapping[str, Any], cache: str
    ) -> None:
        self.name = name
        self._settings, self._cache = task, Path(cache)
        self._data = {**data, "train_limit": None, "train_fraction": 1.0}
        self._task: Task = build(task["build"])

    def train(self) -> Iterator[Sentence]:
        """Stream the distinct segments of the training split."""
        return self._segments("train")

    def heldout(self) -> Mapping[str, Iterator[Sentence]]:
        """Stream those of the dev split."""
        return {"dev": self._segments("dev")}

    def fingerprint(self) -> str:
        """Change with the words themselves."""
        return digest(["task", list(self._segments("train")), list(self._segments("dev"))])

    def _segments(self, split: Split) -> Iterator[Segment]:
        examples, _ = load_split(self._task, self._settings, self._data, split, self._cache)
        whole = ""
        for segment in distinct_segments(examples):
            text = f" {' '.join(segment)} "
            if text not in whole:
                whole = text
                yield segment
