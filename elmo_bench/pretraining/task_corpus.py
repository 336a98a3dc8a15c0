"""The text of a task without its labels, as a corpus to fine-tune a biLM on."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from elmo_bench.config.locating import build_task
from elmo_bench.config.settings import DataSettings, TaskSettings
from elmo_bench.data.example import Segment, Split, distinct_segments
from elmo_bench.data.loading import load_split
from elmo_bench.pretraining.corpus import Sentence
from elmo_bench.task import Task


class TaskCorpus:
    """The segments of a task's training split, and those of its dev split for perplexity.

    A segment that is contained in the previous one is left out: a phrase of a sentence adds no
    text. The whole training text is read, however many of its labels a run trains on.

    Args:
        task: Which task.
        data: Where its corpus is read from.
        cache: Where the mini benchmark is kept.
        part: Train on these segments only, such as the questions of squad; perplexity is measured
            on every part anyway.
    """

    def __init__(
        self, task: TaskSettings, data: DataSettings, cache: Path, part: str | None = None
    ) -> None:
        self._settings, self._cache = task, cache
        self._data = data.but(train_limit=None, train_fraction=1.0)
        self._task: Task = build_task(task.build)
        self._part = part

    def train(self) -> Iterator[Sentence]:
        """Stream the distinct segments of the training split."""
        return self._segments("train", self._part)

    def heldout(self) -> Mapping[str, Iterator[Sentence]]:
        """Stream the distinct segments of the dev split: all of them, and each part alone."""
        parts = self._settings.build.segment_names
        return {"dev": self._segments("dev", None)} | {
            part: self._segments("dev", part) for part in parts
        }

    def _segments(self, split: Split, part: str | None) -> Iterator[Segment]:
        examples, _ = load_split(self._task, self._settings, self._data, split, self._cache)
        if part is not None:
            position = self._settings.build.segment_names.index(part)
            examples = [e._replace(segments=(e.segments[position],)) for e in examples]
        whole = ""
        for segment in distinct_segments(examples):
            text = f" {' '.join(segment)} "
            if text not in whole:
                whole = text
                yield segment
