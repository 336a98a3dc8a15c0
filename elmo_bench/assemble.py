"""Putting a run together from its config: examples, frozen layers, words, module, batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from omegaconf import DictConfig

from elmo_bench.bilm.model import BiLm
from elmo_bench.clock import Clock
from elmo_bench.config import build, plain
from elmo_bench.datamodule import TaskData
from elmo_bench.example import Example, Notes, Segment, Split, distinct_segments
from elmo_bench.features.frozen import FrozenLayers, freeze
from elmo_bench.features.mix import ElmoMix
from elmo_bench.module import TaskModule
from elmo_bench.nn.words import WordEmbedding
from elmo_bench.provide import finetuning, provide_bilm, provide_words
from elmo_bench.source import load_split
from elmo_bench.task import Task


@dataclass(frozen=True)
class Parts:
    """What a run is made of."""

    task: Task
    splits: dict[Split, list[Example]]
    notes: Notes  # what the readers passed over
    frozen: FrozenLayers | None  # None in the baseline
    perplexity: dict[str, Any]  # of the task's dev text, before and after the biLM's fine-tuning
    words: WordEmbedding
    facts: dict[str, Any]
    module: TaskModule
    data: TaskData

    def blueprint(self) -> dict[str, Any]:
        """What rebuilds the module without the training data, fit for JSON."""
        frozen = None if self.frozen is None else self.frozen.shape()
        return {"words": self.words.settings(), "facts": self.facts, "frozen": frozen}

    def sizes(self) -> dict[str, int]:
        """Numbers for the record."""
        sizes = {f"{split} examples": len(examples) for split, examples in self.splits.items()}
        trained = [p.numel() for p in self.module.parameters() if p.requires_grad]
        sizes["trained parameters"] = sum(trained)
        if self.frozen is not None:
            sizes["feature bytes"] = self.frozen.num_bytes
        return sizes


def assemble(cfg: DictConfig, clock: Clock) -> Parts:
    """Read the data, freeze the layers, and build what is trained."""
    task: Task = build(cfg.task.build)
    notes, cache = Notes(), Path(cfg.paths.cache)
    splits: dict[Split, list[Example]] = {}
    with clock("data"):
        for split in get_args(Split):
            settings = plain(cfg.task), plain(cfg.data)
            splits[split], passed_over = load_split(task, *settings, split, cache)
            notes.update({f"{split}: {reason}": n for reason, n in passed_over.items()})
    train = distinct_segments(splits["train"])
    segments = distinct_segments(example for split in splits.values() for example in split)
    frozen, perplexity = None, {}
    if cfg.elmo.name != "none":
        with clock("features"):
            bilm = provide_bilm(cfg)
            perplexity = finetuning(bilm) if cfg.bilm.finetune else {}
            frozen = _frozen(cfg, bilm, segments, train, cache)
            del bilm  # its layers are all that is needed from here on
    with clock("words"):
        words = provide_words(cfg, splits["train"], segments)
    facts = task.facts(splits["train"])
    module = build_module(cfg, task, words, None if frozen is None else frozen.shape(), facts)
    data = TaskData(
        splits=splits,
        layers=None if frozen is None else frozen.padded,
        batch_size=cfg.task.training.batch_size,
        max_cells=cfg.task.training.max_cells,
        seed=cfg.seed,
    )
    return Parts(task, splits, notes, frozen, perplexity, words, facts, module, data)


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
        use=cfg.elmo.use,
        scale=plain(cfg.elmo)["scale"],
        features=cfg.features,
        precision=cfg.precision,
        cache=cache / "features",
    )


def build_module(
    cfg: DictConfig,
    task: Task,
    words: WordEmbedding,
    layers: Mapping[str, Any] | None,
    facts: Mapping[str, Any],
) -> TaskModule:
    """The task's network with its mixes, untrained.

    Args:
        cfg: The config of the run.
        task: The task.
        words: Static word vectors.
        layers: What FrozenLayers.shape() gives; None in the baseline.
        facts: What the task keeps of the training data.
    """
    mixes, elmo_dims = {}, {}
    if layers is not None:
        settings = {**plain(cfg.elmo), "scale": layers["scale"]}
        del settings["name"]
        places = settings.pop("places")
        mixes = {place: ElmoMix(layers["num_layers"], **settings) for place in places}
        elmo_dims = dict.fromkeys(places, layers["dim"])
    training = cfg.task.training
    return TaskModule(
        model=task.build_model(words, elmo_dims, facts),
        mixes=mixes,
        score=task.score,
        metric=cfg.task.metric,
        new_optimizer=build(training.optimizer),
        new_scheduler=None if training.scheduler is None else build(training.scheduler),
    )
