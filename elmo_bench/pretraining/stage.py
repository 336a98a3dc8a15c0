"""The stage behind pretrain.py: from settings to a checkpoint folder of a biLM."""

import logging
import time
import warnings
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from pytorch_lightning import Callback, Trainer
from pytorch_lightning.utilities.rank_zero import rank_zero_only

from elmo_bench.bilm.perplexity import has_softmax
from elmo_bench.bilm.training_file import read_training
from elmo_bench.config.pretraining_settings import (
    PretrainingSettings,
    PretrainSettings,
    TaskCorpusSettings,
)
from elmo_bench.devices import resolve_device, set_matmul_precision
from elmo_bench.errors import UserError
from elmo_bench.loggers import GuardedLogger
from elmo_bench.pretraining.callbacks import (
    LOSSES,
    HeldOutPerplexity,
    TimeBudget,
    read_losses,
)
from elmo_bench.pretraining.corpus import build_corpus
from elmo_bench.pretraining.identity import pretraining_identity
from elmo_bench.pretraining.loader import StreamData
from elmo_bench.pretraining.module import BilmTraining
from elmo_bench.pretraining.new_model import Model, count_steps, new_model
from elmo_bench.pretraining.new_softmax import BestSoftmax, frozen, softmax_alone
from elmo_bench.pretraining.resume import RESUME, outlook, remove_resume_files, resumable
from elmo_bench.pretraining.sentence_store import PreparedCorpus, prepare_corpus
from elmo_bench.pretraining.trainer import new_trainer
from elmo_bench.records.atomic import remove_leftovers
from elmo_bench.records.checksums import CHECKSUMS, find_damage
from elmo_bench.records.digest import first_difference
from elmo_bench.records.environment import environment
from elmo_bench.records.lock import file_lock
from elmo_bench.training.interrupts import explained, interruptible
from elmo_bench.training.losses import DivergedError
from elmo_bench.training.memory import keep_freed_memory, return_freed_memory

log = logging.getLogger(__name__)


class PretrainingError(UserError):
    """A pretraining that cannot continue; the message says what to do."""


def pretrain(settings: PretrainSettings) -> Path:
    """Train the biLM that settings describe, unless it is finished; return its folder.

    An interrupted training resumes from its last checkpoint. If several processes need the
    same biLM, one trains it and the others wait.
    """
    name = settings.name or _default_name(settings)
    folder = Path(settings.paths.bilm) / name
    scratch = Path(settings.paths.outputs) / "pretraining" / name
    scratch.mkdir(parents=True, exist_ok=True)
    identity = pretraining_identity(settings)
    with _only_one(scratch), explained(lambda: outlook(scratch / RESUME)):
        remove_leftovers(scratch, folder.parent)
        if not _is_finished(folder, identity, settings.force):
            _train(settings, identity, folder, scratch)
            if _is_first():
                print(f"The biLM is in {folder}", flush=True)
    return folder


def _train(
    settings: PretrainSettings, identity: dict[str, Any], folder: Path, scratch: Path
) -> None:
    _set_up_process(settings)
    recipe = settings.pretraining
    cache = Path(settings.paths.cache)
    corpus = build_corpus(settings, cache)
    text = prepare_corpus(corpus, identity["text"], cache / "corpus")
    model = bilm, softmax, vocabulary = new_model(settings, text, folder.name)
    recipe = _fitted(recipe, len(vocabulary))
    settings = settings.but(pretraining=recipe)
    alone: list[dict[str, Any]] = []
    if settings.init_from is not None and not has_softmax(bilm):
        alone = _train_new_softmax(settings, identity, model, text, scratch / "new_softmax")
    heldout = HeldOutPerplexity(
        text.heldout,
        vocabulary,
        every=max(1, count_steps(text, recipe) // recipe.num_validations),
        at_start=settings.init_from is not None,
    )
    budget = TimeBudget(recipe.budget_minutes)
    trainer = _fit(settings, identity, model, text, scratch, [budget, heldout])
    if trainer.is_global_zero:
        record = {
            "name": folder.name,
            "corpus": settings.corpus.name,
            "steps": trainer.global_step,
            "tokens": trainer.global_step * recipe.tokens_per_step,
            "training_words": text.train.num_words,
            "vocabulary_size": len(vocabulary),
            "seconds": round(budget.seconds, 1),
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "perplexity": heldout.history[-1]["perplexity"],
            "stateful_perplexity": heldout.stateful,
            "history": heldout.history,
            "losses": read_losses(scratch / LOSSES),
            "new_softmax": alone,
            "settings": _settings(settings),
            "identity": identity,
            "environment": environment(trainer.strategy.root_device),
        }
        dtype = getattr(torch, settings.save_dtype)
        return_freed_memory()
        bilm.save(folder, record, {"softmax": softmax.state_dict()}, dtype=dtype)
        for stage in (scratch, scratch / "new_softmax"):
            remove_resume_files(stage / RESUME)
    trainer.strategy.barrier()


def _set_up_process(settings: PretrainSettings) -> None:
    """Set memory, threads, precision and seed, and quiet Lightning."""
    keep_freed_memory()
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", module="pytorch_lightning")
    if settings.trainer.threads is not None:
        torch.set_num_threads(settings.trainer.threads)
    set_matmul_precision(
        settings.trainer.matmul_precision, resolve_device(settings.trainer.accelerator)
    )
    torch.manual_seed(settings.pretraining.seed)


def _train_new_softmax(
    settings: PretrainSettings,
    identity: dict[str, Any],
    model: Model,
    text: PreparedCorpus,
    scratch: Path,
) -> list[dict[str, Any]]:
    """Train the softmax on the frozen biLM until it no longer improves; return its history."""
    bilm, softmax, vocabulary = model
    how, alone = settings.pretraining.new_softmax, softmax_alone(settings)
    measurements = how.max_epochs * how.num_validations
    every = max(1, count_steps(text, alone.pretraining) // measurements)
    best = BestSoftmax(text.heldout, vocabulary, every, how.patience)
    scratch.mkdir(exist_ok=True)
    with frozen(bilm):
        _fit(alone, identity, model, text, scratch, [TimeBudget(None), best])
    softmax.load_state_dict(best.best)
    return best.history


def _fit(
    settings: PretrainSettings,
    identity: dict[str, Any],
    model: Model,
    text: PreparedCorpus,
    scratch: Path,
    callbacks: list[Callback],
) -> Trainer:
    """Train from the beginning, or from where an interrupted training was."""
    bilm, softmax, vocabulary = model
    recipe, num_steps = settings.pretraining, count_steps(text, settings.pretraining)
    if _is_first():
        log.info(
            "== pretraining %s: %s parameters of the biLM, %s training words, %s steps",
            *(scratch.name, f"{sum(p.numel() for p in bilm.parameters()):,}"),
            *(f"{text.train.num_words:,}", f"{num_steps:,}"),
        )
    module = BilmTraining(bilm, softmax, recipe)
    num_batches = num_steps * recipe.accumulate_grad_batches
    data = StreamData(text, vocabulary, bilm.encoder, recipe, num_batches)
    trainer = new_trainer(settings, identity, num_steps, scratch, callbacks)
    checkpoint = resumable(scratch / RESUME, identity, settings.force)
    if checkpoint is not None and _is_first():
        print(f"Resuming from {checkpoint}", flush=True)
    try:
        with interruptible(trainer):
            trainer.fit(module, data, ckpt_path=checkpoint, weights_only=True)
    except DivergedError as error:
        kept = Path(trainer.default_root_dir) / RESUME
        where = f"The last good checkpoint is kept in {kept}. " if kept.exists() else ""
        raise PretrainingError(
            f"{error} {where}Start again with a lower pretraining.optimizer.lr or "
            "pretraining.gradient_clip_val (and another name=... or force=true)."
        ) from error
    finally:
        for logger in trainer.loggers:
            if isinstance(logger, GuardedLogger):
                logger.finish()
    return trainer


def _fitted(recipe: PretrainingSettings, num_words: int) -> PretrainingSettings:
    """The recipe with a softmax that fits the vocabulary; says so if it is another one."""
    loss = recipe.loss.fitted(num_words)
    if loss != recipe.loss and _is_first():
        print(
            f"The vocabulary has only {num_words:,} words, so the loss is {loss.shown()} instead "
            f"of {recipe.loss.shown()} (pretraining.loss).",
            flush=True,
        )
    fitted: PretrainingSettings = recipe.but(loss=loss)
    return fitted


def _settings(settings: PretrainSettings) -> dict[str, Any]:
    """For the record: what was trained, on which text and how; without where and on what device."""
    chosen = settings.plain()
    groups = ["bilm", "corpus", "pretraining", "init_from", "save_dtype"]
    if isinstance(settings.corpus, TaskCorpusSettings):
        groups += ["task", "data"]
    return {group: chosen[group] for group in groups}


def _default_name(settings: PretrainSettings) -> str:
    if settings.init_from is None:
        return settings.bilm.name
    return f"{Path(settings.init_from).name}-{settings.corpus.name}"


def _only_one(scratch: Path) -> AbstractContextManager[Any]:
    """Make other trainings of this name wait; the other ranks of this one take no lock."""
    if not _is_first():
        return nullcontext()
    return file_lock(scratch / "lock", f"trains the biLM {scratch.name}")


def _is_first() -> bool:
    """Whether this is rank 0, according to the environment, since no trainer exists yet."""
    return getattr(rank_zero_only, "rank", 0) == 0


def _is_finished(folder: Path, identity: dict[str, Any], force: bool) -> bool:
    record = folder / "training.json"
    if force or not record.exists():
        return False
    stored = read_training(folder).identity
    other = first_difference(stored, identity)
    if other:
        raise PretrainingError(
            f"{folder} was trained on other text or with other settings ({other}). Give this "
            "training another name=..., or replace the old one with force=true."
        )
    if (folder / CHECKSUMS).exists() and (damage := find_damage(folder)):
        raise PretrainingError(f"{damage} since it was trained; train it again with force=true.")
    return True
