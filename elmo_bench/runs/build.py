"""Putting a run together from its config: examples, frozen layers, words, module, batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from omegaconf import DictConfig

from elmo_bench.bilm.model import BiLm
from elmo_bench.config.compose import build, plain
from elmo_bench.data.example import Example, Segment, Skipped, Split, distinct_segments
from elmo_bench.data.loading import load_split
from elmo_bench.features.frozen import FrozenLayers, freeze
from elmo_bench.features.mix import ElmoMix
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.records.timer import StageTimer
from elmo_bench.runs.bilm import finetuning, load_or_train_bilm
from elmo_bench.runs.datamodule import TaskData
from elmo_bench.runs.module import TaskModule
from elmo_bench.runs.word_vectors import build_word_embedding
from elmo_bench.task import Task


@dataclass(frozen=True)
class RunComponents:
    """What a run is made of."""

    task: Task
    splits: dict[Split, list[Example]]
    skipped: Skipped  # what the readers passed over
    frozen: FrozenLayers | None  # None in the baseline
    perplexity: dict[str, Any]  # of the task's dev text, before and after the biLM's fine-tuning
    words: WordEmbedding
    label_vocabulary: dict[str, Any]
    module: TaskModule
    data: TaskData

    def model_spec(self) -> dict[str, Any]:
        """What rebuilds the module without the training data, fit for JSON."""
        frozen = None if self.frozen is None else self.frozen.shape()
        return {
            "words": self.words.settings(),
            "label_vocabulary": self.label_vocabulary,
            "frozen": frozen,
        }

    def sizes(self) -> dict[str, int]:
        """Numbers for the record."""
        sizes = {f"{split} examples": len(examples) for split, examples in self.splits.items()}
        trained = [p.numel() for p in self.module.parameters() if p.requires_grad]
        sizes["trained parameters"] = sum(trained)
        if self.frozen is not None:
            sizes["feature bytes"] = self.frozen.num_bytes
        return sizes


def build_components(cfg: DictConfig, timer: StageTimer) -> RunComponents:
    """Read the data, freeze the layers, and build what is trained."""
    task: Task = build(cfg.task.build)
    skipped, cache = Skipped(), Path(cfg.paths.cache)
    splits: dict[Split, list[Example]] = {}
    with timer("data"):
        for split in get_args(Split):
            settings = plain(cfg.task), plain(cfg.data)
            splits[split], passed_over = load_split(task, *settings, split, cache)
            skipped.update({f"{split}: {reason}": n for reason, n in passed_over.items()})
    train = distinct_segments(splits["train"])
    segments = distinct_segments(example for split in splits.values() for example in split)
    frozen, perplexity = None, {}
    if cfg.elmo.name != "none":
        with timer("features"):
            bilm = load_or_train_bilm(cfg)
            perplexity = finetuning(bilm) if cfg.bilm.finetune else {}
            frozen = _frozen(cfg, bilm, segments, train, cache)
            del bilm  # its layers are all that is needed from here on
    with timer("words"):
        words = build_word_embedding(cfg, splits["train"], segments)
    label_vocabulary = task.label_vocabulary(splits["train"])
    module = build_module(
        cfg, task, words, None if frozen is None else frozen.shape(), label_vocabulary
    )
    data = TaskData(
        splits=splits,
        layers=None if frozen is None else frozen.padded,
        batch_size=cfg.task.training.batch_size,
        max_padded_tokens=cfg.task.training.max_padded_tokens,
        seed=cfg.seed,
    )
    return RunComponents(
        task, splits, skipped, frozen, perplexity, words, label_vocabulary, module, data
    )


def _frozen(
    cfg: DictConfig,
    bilm: BiLm,
    segments: Sequence[Segment],
    train: Sequence[Segment],
    cache: Path,
) -> FrozenLayers:
    return freeze(
        bilm,
        segments,
        train,
        layers=cfg.elmo.layers,
        scale=plain(cfg.elmo)["scale"],
        features=cfg.features,
        dtype=cfg.cache_dtype,
        cache=cache / "features",
    )


def build_module(
    cfg: DictConfig,
    task: Task,
    words: WordEmbedding,
    layers: Mapping[str, Any] | None,
    label_vocabulary: Mapping[str, Any],
) -> TaskModule:
    """The task's network with its mixes, untrained.

    Args:
        cfg: The config of the run.
        task: The task.
        words: Static word vectors.
        layers: What FrozenLayers.shape() gives; None in the baseline.
        label_vocabulary: What the task keeps of the training data.
    """
    mixes, elmo_dims = {}, {}
    if layers is not None:
        settings = {**plain(cfg.elmo), "scale": layers["scale"]}
        del settings["name"]
        placement = settings.pop("placement")
        mixes = {place: ElmoMix(layers["num_layers"], **settings) for place in placement}
        elmo_dims = dict.fromkeys(placement, layers["dim"])
    training = cfg.task.training
    return TaskModule(
        model=task.build_model(words, elmo_dims, label_vocabulary),
        mixes=mixes,
        score=task.score,
        metric=cfg.task.metric,
        new_optimizer=build(training.optimizer),
        new_scheduler=None if training.scheduler is None else build(training.scheduler),
    )
