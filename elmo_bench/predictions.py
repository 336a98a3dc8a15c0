"""The predictions of a run: beside its record for reports, in its folder as a corpus has them."""

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elmo_bench.example import Example, Split
from elmo_bench.task import Task


def write_predictions(
    record: Path, task: Task, examples: Sequence[Example], predictions: Mapping[str, Any]
) -> str:
    """Write the test predictions beside a record, one JSON object per example; give the name.

    Args:
        record: The record's file.
        task: Whose predictions.
        examples: The test split, in its order.
        predictions: By the id of the example.
    """
    path = record.with_name(f"{record.stem}.predictions.jsonl.gz")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    # Without a time stamp, so that the same predictions are the same file.
    with temporary.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        for example in examples:
            prediction = predictions[example.id]
            line = {
                "id": example.id,
                "tokens": example.segments,
                "gold": task.annotate(example, task.gold(example))._asdict(),
                "predicted": task.annotate(example, prediction)._asdict(),
                "counts": task.counts(example, prediction),
            }
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    os.replace(temporary, path)
    return path.name


def write_prediction_files(
    folder: Path,
    task: Task,
    splits: Mapping[Split, Sequence[Example]],
    predictions: Mapping[Split, Mapping[str, Any]],
) -> None:
    """Write predictions, by split and id, in the corpus's own format: dev.conll, test.conll."""
    for split, by_id in predictions.items():
        examples = splits[split]
        path = folder / f"{split}.{task.suffix}"
        task.write_predictions(examples, [by_id[example.id] for example in examples], path)
