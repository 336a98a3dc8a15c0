"""Writes the predictions of a run: next to its record for reports, in its folder as a corpus."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elmo_bench.data.example import Example, Split
from elmo_bench.records.atomic import replace_file, write_gzip
from elmo_bench.runs.label_analysis import label_pairs
from elmo_bench.task import Task


def write_predictions(
    record: Path, task: Task, examples: Sequence[Example], predictions: Mapping[str, Any]
) -> str:
    """Write test predictions next to a record, a JSON object per example; return the name.

    Args:
        record: The record's file.
        task: The task.
        examples: The test split, in its order.
        predictions: By the id of the example.
    """
    path = record.with_name(f"{record.stem}.predictions.jsonl.gz")
    lines = []
    for example in examples:
        prediction = predictions[example.id]
        line: dict[str, Any] = {
            "id": example.id,
            "tokens": example.segments,
            "gold": task.annotate(example, task.gold(example))._asdict(),
            "predicted": task.annotate(example, prediction)._asdict(),
            "counts": task.counts(example, prediction),
        }
        if labels := label_pairs(task, example, prediction):
            line["labels"] = labels
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    write_gzip(path, "".join(lines).encode())
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
        with replace_file(path) as unfinished:
            task.write_predictions(examples, [by_id[e.id] for e in examples], unfinished)
