"""Builds a run from its settings: examples, frozen layers, words, module, batches."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from elmo_bench.config.locating import build_task
from elmo_bench.config.settings import RunSettings
from elmo_bench.data.example import Example, Skipped, Split, distinct_segments
from elmo_bench.data.loading import load_split
from elmo_bench.devices import resolve_device
from elmo_bench.features.frozen import FrozenLayers, freeze
from elmo_bench.features.mix import ElmoMix
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.records.timer import StageTimer
from elmo_bench.runs.bilm import finetuning_perplexity, load_bilm
from elmo_bench.runs.datamodule import TaskData
from elmo_bench.runs.module import TaskModule
from elmo_bench.runs.optimizers import optimizer_factory, scheduler_factory
from elmo_bench.runs.word_vectors import build_word_embedding
from elmo_bench.task import Task

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunComponents:
    """The components of a run."""

    task: Task
    splits: dict[Split, list[Example]]
    skipped: Skipped  # by the readers: "split: reason" -> count
    frozen: FrozenLayers | None  # None in the baseline
    perplexity: dict[str, Any]  # of the task's dev text, before and after the biLM's fine-tuning
    words: WordEmbedding
    label_vocabulary: dict[str, Any]
    module: TaskModule
    data: TaskData

    def model_spec(self) -> dict[str, Any]:
        """What rebuilds the module without the training data, as JSON values."""
        return {
            "words": self.words.settings(),
            "label_vocabulary": self.label_vocabulary,
            "frozen": None if self.frozen is None else self.frozen.shape(),
        }

    def sizes(self) -> dict[str, int]:
        """Numbers for the record."""
        sizes = {f"{split} examples": len(examples) for split, examples in self.splits.items()}
        trained = [p.numel() for p in self.module.parameters() if p.requires_grad]
        sizes["trained parameters"] = sum(trained)
        if self.frozen is not None:
            sizes["feature bytes"] = self.frozen.num_bytes
        return sizes


def build_components(settings: RunSettings, timer: StageTimer) -> RunComponents:
    """Read the data, freeze the layers, and build what is trained."""
    task: Task = build_task(settings.task.build)
    cache = Path(settings.paths.cache)
    skipped = Skipped()
    splits: dict[Split, list[Example]] = {}
    with timer("data"):
        for split in get_args(Split):
            examples, reasons = load_split(task, settings.task, settings.data, split, cache)
            splits[split] = examples
            skipped.update({f"{split}: {reason}": n for reason, n in reasons.items()})
    log.info("data: %s", _found(splits, skipped))
    segments = {split: distinct_segments(examples) for split, examples in splits.items()}
    frozen, perplexity = None, {}
    if not settings.elmo.is_baseline:
        with timer("features"):
            bilm = load_bilm(settings).to(resolve_device(settings.trainer.accelerator))
            perplexity = finetuning_perplexity(bilm) if settings.bilm.finetune else {}
            frozen = freeze(
                bilm,
                segments,
                layers=settings.elmo.layers,
                scale=settings.elmo.scale,
                state=settings.bilm.state,
                features=settings.features,
                dtype=settings.cache_dtype,
                cache=cache / "features",
            )
            del bilm  # only its layers are needed from here on
    with timer("words"):
        every = distinct_segments(example for some in splits.values() for example in some)
        words = build_word_embedding(settings, splits["train"], every)
    label_vocabulary = task.label_vocabulary(splits["train"])
    shape = None if frozen is None else frozen.shape()
    module = build_module(settings, task, words, shape, label_vocabulary)
    data = TaskData(
        splits=splits,
        layers=None if frozen is None else frozen.padded,
        batch_size=settings.task.training.batch_size,
        max_padded_tokens=settings.task.training.max_padded_tokens,
        seed=settings.seed,
    )
    return RunComponents(
        task, splits, skipped, frozen, perplexity, words, label_vocabulary, module, data
    )


def _found(splits: Mapping[Split, list[Example]], skipped: Skipped) -> str:
    """What the readers found, in a line."""
    counts = ", ".join(f"{len(examples):,} {split}" for split, examples in splits.items())
    left_out = "; ".join(f"{reason} ({count:,})" for reason, count in skipped.items())
    return f"{counts} examples" + (f"; skipped: {left_out}" if left_out else "")


def build_module(
    settings: RunSettings,
    task: Task,
    words: WordEmbedding,
    layers: Mapping[str, Any] | None,
    label_vocabulary: Mapping[str, Any],
) -> TaskModule:
    """The task's network with its mixes, untrained.

    Args:
        settings: Of the run.
        task: The task.
        words: Static word vectors.
        layers: FrozenLayers.shape(); None in the baseline.
        label_vocabulary: What the task keeps of the training data.
    """
    elmo, training = settings.elmo, settings.task.training
    mixes: dict[str, ElmoMix] = {}
    elmo_dims: dict[str, int] = {}
    if layers is not None:
        for placement in elmo.placement:
            elmo_dims[placement] = layers["dim"]
            mixes[placement] = ElmoMix(
                layers["num_layers"],
                layers=elmo.layers,
                scale=layers["scale"],
                layer_norm=elmo.layer_norm,
                dropout=elmo.dropout,
                l2=elmo.l2,
                gamma=elmo.gamma,
            )
    return TaskModule(
        model=task.build_model(words, elmo_dims, label_vocabulary),
        mixes=mixes,
        score=task.score,
        metric=settings.task.metric,
        new_optimizer=optimizer_factory(training.optimizer),
        new_scheduler=scheduler_factory(training.scheduler),
        sum_over_batch=training.sum_over_batch,
    )
