"""Applies the trained model of a run to new text."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.text import Text

from elmo_bench.config.compose import validated
from elmo_bench.config.locating import build_task
from elmo_bench.config.settings import RunSettings
from elmo_bench.data.example import Example, distinct_segments
from elmo_bench.data.files import DataError
from elmo_bench.devices import resolve_device
from elmo_bench.errors import UserError
from elmo_bench.features.frozen import embed_with, pad_layers
from elmo_bench.features.mix import layer_numbers
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.records.checksums import find_damage
from elmo_bench.records.reading import read_object, reading
from elmo_bench.runs.bilm import load_bilm
from elmo_bench.runs.build import build_module
from elmo_bench.runs.files import FINISHED
from elmo_bench.runs.module import TaskModule
from elmo_bench.task import Annotation, Task, collate
from elmo_bench.training.checkpoints import read_checkpoint

COLORS = ("cyan", "magenta", "green", "yellow", "blue", "red")


@dataclass(frozen=True)
class Prediction:
    """A model's prediction for a text."""

    example: Example
    value: Any  # in the task's own form
    annotation: Annotation  # for display


class Predictor:
    """A finished run, ready for new text: its model, and the encoder that it was trained on.

    With bilm.state=carry, the segments of a text are one stream, which starts from the zero state.

    Args:
        folder: The run's folder in outputs/runs.
        device: Where it runs, as `resolve_device` takes it.
    """

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        self.device = resolve_device(device)
        if damage := find_damage(folder, FINISHED):
            raise DataError(folder, None, f"{damage}; the command that made the run repeats it")
        path = folder / "settings.json"
        settings = validated(RunSettings, read_object(path), str(path))
        self.task: Task = build_task(settings.task.build)
        self.module, frozen = _load_module(folder, settings, self.task)
        self.module.to(self.device)
        self.bilm = None if frozen is None else load_bilm(settings)
        if self.bilm is not None and frozen is not None:
            if self.bilm.fingerprint() != frozen.get("fingerprint"):
                raise DataError(
                    settings.bilm.weights or settings.bilm.name,
                    None,
                    f"the weights are not those that {folder} was trained on; run it again",
                )
            self.bilm.to(self.device)
            self.layers = layer_numbers(settings.elmo.layers, self.bilm.num_layers)
            self.embed = embed_with(self.bilm, settings.bilm.state)

    @torch.no_grad()
    def __call__(self, text: str) -> Prediction:
        """Predict for text as typed; a ValueError names the format that the task expects."""
        example = self.task.parse(text)
        layers = None
        if self.bilm is not None:
            layers = pad_layers(self.embed, self.layers, distinct_segments([example]))
        [value] = self.module(collate([example], layers).to(self.device)).predictions
        return Prediction(example, value, self.task.annotate(example, value))


def _load_module(
    folder: Path, settings: RunSettings, task: Task
) -> tuple[TaskModule, dict[str, Any] | None]:
    """The trained module of a run, and the shape of its frozen layers."""
    spec_file, weights = folder / "model_spec.json", folder / "checkpoints" / "best.ckpt"
    spec = read_object(spec_file)

    def build() -> TaskModule:
        words = WordEmbedding(**spec["words"])
        return build_module(settings, task, words, spec["frozen"], spec["label_vocabulary"])

    with reading(spec_file), torch.device("meta"):  # takes no memory, whatever the sizes
        needed = sum(parameter.numel() for parameter in build().parameters())
    if 4 * needed > weights.stat().st_size:
        raise DataError(weights, None, f"is too small for the {needed:,} numbers of the model")
    with reading(spec_file):
        module = build()
    with reading(weights):
        checkpoint = read_checkpoint(weights)
        module.load_state_dict(checkpoint["state_dict"])
    return module.eval(), spec["frozen"]


def print_predictions(predictor: Predictor, lines: Iterable[str], as_json: bool) -> None:
    """Print a prediction for each line that is not empty."""
    console = Console()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            prediction = predictor(line.strip())
        except ValueError as error:
            raise UserError(f"line {number}: {error}") from error
        if as_json:
            tokens = prediction.example.segments
            found = {"tokens": tokens, "prediction": prediction.value}
            print(json.dumps(found, ensure_ascii=False), flush=True)
        else:
            for text in marked(prediction):
                console.print(text)


def marked(prediction: Prediction) -> Iterator[Text]:
    """The text with its spans in brackets and colors, and the label below."""
    annotation = prediction.annotation
    labels = list(dict.fromkeys(label for *_, label in annotation.spans))
    color = {label: COLORS[i % len(COLORS)] for i, label in enumerate(labels)}
    for segment, tokens in enumerate(prediction.example.segments):
        spans = [span[1:] for span in annotation.spans if span[0] == segment]
        text = Text()
        for position, token in enumerate(tokens):
            opening = sorted((s for s in spans if s[0] == position), key=lambda s: -s[1])
            for *_, label in opening:
                text.append("[", style=color[label])
            inner = [label for first, last, label in spans if first <= position <= last]
            text.append(token, style=color[inner[-1]] if inner else "")
            for *_, label in sorted((s for s in spans if s[1] == position), key=lambda s: -s[0]):
                text.append(f" {label}]", style=f"bold {color[label]}")
            text.append(" ")
        yield text
    if annotation.label is not None:
        yield Text(f"-> {annotation.label}", style="bold")
