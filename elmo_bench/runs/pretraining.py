"""The pretrainings that a run may need: of a missing biLM, and its fine-tuning; no torch."""

from pathlib import Path
from typing import Any

from elmo_bench.config.bilm_settings import BilmSettings
from elmo_bench.config.compose import pretrain_settings
from elmo_bench.config.folders import find_bilm
from elmo_bench.config.pretraining_settings import PretrainingSettings, PretrainSettings
from elmo_bench.config.settings import RunSettings
from elmo_bench.pretraining.identity import pretraining_identity
from elmo_bench.records.digest import digest

FINETUNING = ("pretraining=finetune", "pretraining.batch_size=8")  # few rows: the text is small


def bilm_source(settings: RunSettings) -> Path:
    """The folder of the run's biLM, before any fine-tuning; it must exist."""
    if settings.bilm.weights is not None:
        return find_bilm(settings.bilm.weights)
    own = own_folder(settings)
    return own if (own / "config.yaml").exists() else find_bilm(settings.bilm.name)


def own_folder(settings: RunSettings) -> Path:
    """Where a biLM that a run pretrains itself is kept."""
    return Path(settings.paths.bilm) / settings.bilm.name


def missing_pretraining(settings: RunSettings) -> PretrainSettings:
    """The pretraining of a biLM that names its corpus."""
    assert isinstance(settings.bilm, BilmSettings)
    return _on_the_same_device(settings, f"corpus={settings.bilm.pretrain_on}")


def finetuning(settings: RunSettings, start: Path | str) -> PretrainSettings:
    """The fine-tuning of a biLM on the task's text.

    All runs of a task share the text, even if they train on fewer labels.

    Args:
        settings: Of the run.
        start: The biLM to fine-tune.
    """
    tuning = _on_the_same_device(
        settings,
        *FINETUNING,
        "corpus=task",
        f"task={settings.task.name}",
        f"init_from={start}",
        task=settings.task,
        data=settings.data.but(train_limit=None, train_fraction=1.0),
    )
    what = digest(pretraining_identity(tuning))
    return tuning.but(name=f"{Path(start).name}-{settings.task.name}-{what}")


def finetuning_recipe() -> PretrainingSettings:
    """How biLMs are fine-tuned."""
    return pretrain_settings(list(FINETUNING)).pretraining


def _on_the_same_device(settings: RunSettings, *choices: str, **groups: Any) -> PretrainSettings:
    pretraining = pretrain_settings([f"bilm={settings.bilm.name}", *choices])
    paths, trainer = settings.paths, settings.trainer
    changed: PretrainSettings = pretraining.but(
        bilm=settings.bilm,
        paths=pretraining.paths.but(bilm=paths.bilm, cache=paths.cache, outputs=paths.outputs),
        trainer=pretraining.trainer.but(
            accelerator=trainer.accelerator,
            threads=trainer.threads,
            matmul_precision=trainer.matmul_precision,
            progress_bar=trainer.progress_bar,
        ),
        **groups,
    )
    return changed
