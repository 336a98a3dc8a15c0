"""The biLM of a run: loaded, pretrained when it is missing, or fine-tuned on the task's text."""

import json
from pathlib import Path
from typing import Any

import torch
from pytorch_lightning.utilities.seed import isolate_rng

from elmo_bench.bilm.checkpoint import find_folder
from elmo_bench.bilm.model import BiLm
from elmo_bench.config.compose import pretrain_settings
from elmo_bench.config.settings import RunSettings
from elmo_bench.pretraining.stage import pretrain
from elmo_bench.records.digest import digest


def load_or_train_bilm(settings: RunSettings) -> BiLm:
    """The biLM that settings name; pretrained first if it is missing and a corpus is set."""
    bilm = settings.bilm
    if bilm.weights == "random":
        # A fixed seed: like a trained biLM, the control is one model for all seeds of a run.
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return BiLm(bilm.architecture()).eval()
    loaded = BiLm.load_published(bilm) if bilm.official else BiLm.load(bilm_folder(settings))
    return BiLm.load(_finetuned(settings, loaded)) if bilm.finetune else loaded


def bilm_folder(settings: RunSettings) -> Path:
    """The checkpoint folder of the biLM, created if necessary."""
    bilm = settings.bilm
    if bilm.weights not in (None, "random"):
        return find_folder(str(bilm.weights))
    folder = Path(settings.paths.bilm) / bilm.name
    if not (folder / "config.yaml").exists() and bilm.pretrain_on is not None:
        return _pretrained(settings, f"corpus={bilm.pretrain_on}")
    return find_folder(folder)


def _finetuned(settings: RunSettings, bilm: BiLm) -> Path:
    """The folder of a biLM fine-tuned on the task's text, created if necessary.

    All runs of a task share the text, even if they train on fewer labels.
    """
    data = settings.data.but(train_limit=None, train_fraction=1.0)
    name = digest([bilm.fingerprint(), settings.task.build.plain(), data.plain()])
    return _pretrained(
        settings,
        "corpus=task",
        f"task={settings.task.name}",
        "pretraining=finetune",
        "pretraining.batch_size=8",  # few rows, so that a small text gives enough steps
        f"init_from={bilm.folder or settings.bilm.weights or settings.bilm.name}",
        f"name={bilm.name}-{settings.task.name}-{name}",
        task=settings.task,
        data=data,
    )


def finetuning_perplexity(bilm: BiLm) -> dict[str, Any]:
    """Perplexity of the task's dev text before and after, as the biLM's folder records it."""
    assert bilm.folder is not None
    history = read_training(bilm.folder)["history"]
    return {
        when: measured["perplexity"]["dev"]
        for when, measured in (("before", history[0]), ("after", history[-1]))
    }


def _pretrained(settings: RunSettings, *choices: str, **groups: Any) -> Path:
    """Pretrain on the run's device, and restore the random state that the run depends on."""
    pretraining = pretrain_settings([f"bilm={settings.bilm.name}", *choices])
    paths, trainer = settings.paths, settings.trainer
    pretraining = pretraining.but(
        bilm=settings.bilm,
        paths=pretraining.paths.but(bilm=paths.bilm, cache=paths.cache, outputs=paths.outputs),
        trainer=pretraining.trainer.but(
            accelerator=trainer.accelerator,
            threads=trainer.threads,
            progress_bar=trainer.progress_bar,
        ),
        **groups,
    )
    with isolate_rng():
        return pretrain(pretraining)


def read_training(folder: Path) -> dict[str, Any]:
    """The content of training.json in a biLM's folder."""
    training: dict[str, Any] = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    return training
