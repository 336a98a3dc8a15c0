"""The stage that pretrains a biLM: the only functions that know the whole path."""

import json
import logging
import time
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from omegaconf import DictConfig
from pytorch_lightning import Callback, Trainer
from pytorch_lightning.utilities.rank_zero import rank_zero_only

from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.perplexity import has_softmax, load_softmax
from elmo_bench.bilm.softmax import Softmax, as_trained_with, build_softmax
from elmo_bench.bilm.vocabulary import Vocabulary
from elmo_bench.config.compose import ConfigError, build, plain
from elmo_bench.loggers import GuardedLogger, build_logger
from elmo_bench.pretraining.callbacks import HeldOutPerplexity, LossCurve, TimeBudget
from elmo_bench.pretraining.loader import StreamData
from elmo_bench.pretraining.memory import keep_freed_memory
from elmo_bench.pretraining.module import BilmTraining, DivergedError
from elmo_bench.pretraining.progress import PretrainingProgress
from elmo_bench.pretraining.resume import ResumeCheckpoint, find_checkpoint, first_difference
from elmo_bench.pretraining.sentence_store import PreparedCorpus, prepare_corpus

RESUME = "resume.ckpt"


class PretrainingError(ValueError):
    """A pretraining that cannot go on; says what to do."""


def pretrain(cfg: DictConfig) -> Path:
    """Train the biLM that the config describes, unless it is there already; give its folder.

    A training that was cut off goes on from its last checkpoint. Of several processes that want
    the same biLM one trains it and the others wait.
    """
    settings = plain(cfg)
    name = settings["name"] or _default_name(settings)
    folder = Path(settings["paths"]["bilm"]) / name
    scratch = Path(settings["paths"]["outputs"]) / "pretraining" / name
    scratch.mkdir(parents=True, exist_ok=True)
    identity = {
        key: settings[key] for key in ("bilm", "corpus", "pretraining", "init_from", "save_dtype")
    }
    identity["bilm"] = {key: identity["bilm"][key] for key in ("name", "encoder", "lstm")}
    identity["corpus"] = {k: v for k, v in identity["corpus"].items() if k != "cache"}
    with _only_one(scratch):
        if not _is_finished(folder, scratch, identity, settings["force"]):
            _train(cfg, settings, identity, folder, scratch)
            if _is_first():
                print(f"The biLM is in {folder}", flush=True)
    return folder


def _train(
    cfg: DictConfig,
    settings: dict[str, Any],
    identity: dict[str, Any],
    folder: Path,
    scratch: Path,
) -> None:
    keep_freed_memory()
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", module="pytorch_lightning")
    if settings["trainer"]["threads"]:
        torch.set_num_threads(settings["trainer"]["threads"])
    recipe = settings["pretraining"]
    torch.manual_seed(recipe["seed"])
    corpus = build(cfg.corpus)
    text = prepare_corpus(corpus, Path(settings["paths"]["cache"]) / "corpus")
    identity = {**identity, "text": corpus.fingerprint()}
    bilm, softmax, vocabulary = _new_model(settings, text, folder.name)
    steps = _num_steps(text, recipe)
    scale = float(recipe["unroll_steps"]) if recipe["sum_over_steps"] else 1.0
    module = BilmTraining(
        bilm, softmax, recipe["optimizer"], recipe["schedule"], scale, recipe["seed"]
    )
    data = StreamData(
        text, vocabulary, bilm.encoder, recipe, steps * recipe["accumulate_grad_batches"]
    )
    heldout = HeldOutPerplexity(
        text.heldout,
        vocabulary,
        every=max(1, steps // recipe["num_validations"]),
        at_start=settings["init_from"] is not None,
    )
    clock = TimeBudget(recipe["budget_minutes"])
    trainer = _new_trainer(settings, identity, steps, scratch, [clock, heldout])
    _fit(trainer, module, data, find_checkpoint(scratch / RESUME, identity, settings["force"]))
    if trainer.is_global_zero:
        record = {
            "name": folder.name,
            "corpus": settings["corpus"]["name"],
            "steps": trainer.global_step,
            "tokens": trainer.global_step * _tokens_per_step(recipe),
            "training_words": text.train.num_words,
            "vocabulary_size": len(vocabulary),
            "seconds": round(clock.seconds, 1),
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "perplexity": heldout.history[-1]["perplexity"],
            "history": heldout.history,
            "settings": {**identity, "corpus": settings["corpus"]},
        }
        dtype = getattr(torch, settings["save_dtype"])
        bilm.save(folder, record, {"softmax": softmax.state_dict()}, dtype=dtype)
        (scratch / RESUME).unlink(missing_ok=True)
    trainer.strategy.barrier()


def _fit(trainer: Trainer, module: BilmTraining, data: StreamData, checkpoint: Path | None) -> None:
    if checkpoint is not None and _is_first():
        print(f"Going on from {checkpoint}", flush=True)
    try:
        trainer.fit(module, data, ckpt_path=checkpoint, weights_only=True)
    except DivergedError as error:
        kept = Path(trainer.default_root_dir) / RESUME
        place = f"The last good checkpoint is kept in {kept}. " if kept.exists() else ""
        raise PretrainingError(
            f"{error} {place}Start again with a lower pretraining.optimizer.lr or "
            "pretraining.gradient_clip_val (and another name=... or force=true)."
        ) from error
    finally:
        for logger in trainer.loggers:
            if isinstance(logger, GuardedLogger):
                logger.finish()
    if trainer.interrupted:
        raise KeyboardInterrupt


def _new_model(
    settings: dict[str, Any], text: PreparedCorpus, name: str
) -> tuple[BiLm, Softmax, Vocabulary]:
    """An untrained biLM and softmax, or those to start from.

    Official weights come without softmax and vocabulary; then these are made for the corpus.
    """
    recipe, model = settings["pretraining"], settings["bilm"]
    start = settings["init_from"]
    if start is None:
        vocabulary = text.vocabulary(**recipe["vocabulary"])
        bilm = BiLm(name, model["encoder"], model["lstm"], vocabulary.words)
    else:
        bilm = BiLm.load(start).train()
        bilm.config["name"] = name
        if has_softmax(bilm):
            softmax, vocabulary = load_softmax(bilm)
            return bilm, as_trained_with(recipe["loss"], softmax), vocabulary
        vocabulary = text.vocabulary(**recipe["vocabulary"])
        bilm.vocabulary = vocabulary.words
    softmax = build_softmax(recipe["loss"], bilm.projection_dim, len(vocabulary))
    return bilm, softmax, vocabulary


def _new_trainer(
    settings: dict[str, Any],
    identity: dict[str, Any],
    steps: int,
    scratch: Path,
    callbacks: list[Callback],
) -> Trainer:
    how, recipe = settings["trainer"], settings["pretraining"]
    intervals = how["checkpoint_steps"], how["checkpoint_minutes"]
    callbacks = [
        *callbacks,
        LossCurve(scratch / "losses.csv", how["log_every_n_steps"]),
        ResumeCheckpoint(scratch / RESUME, identity, *intervals),
    ]
    if how["progress_bar"]:
        tokens = recipe["batch_size"] * recipe["unroll_steps"]
        callbacks.append(PretrainingProgress(tokens, recipe["loss"]["kind"] == "sampled"))
    logger = None
    if _is_first():
        logger = build_logger(settings["logger"], scratch, scratch.name, "pretraining", identity)
    trainer = Trainer(
        accelerator=how["accelerator"],
        devices=how["devices"],
        num_nodes=how["num_nodes"],
        strategy=how["strategy"],
        precision=recipe["precision"],
        max_epochs=1,  # for Lightning: the loader counts the epochs of the corpus
        max_steps=steps,
        accumulate_grad_batches=recipe["accumulate_grad_batches"],
        gradient_clip_val=recipe["gradient_clip_val"],
        callbacks=callbacks,
        logger=logger or False,
        enable_progress_bar=how["progress_bar"],
        enable_model_summary=False,
        default_root_dir=scratch,
    )
    if recipe["precision"] != "32-true" and trainer.strategy.root_device.type == "cpu":
        raise ConfigError(
            f"pretraining.precision={recipe['precision']} needs a GPU; set 32-true for the CPU."
        )
    return trainer


def _tokens_per_step(recipe: Mapping[str, Any]) -> int:
    return int(recipe["batch_size"] * recipe["unroll_steps"] * recipe["accumulate_grad_batches"])


def _num_steps(text: PreparedCorpus, recipe: Mapping[str, Any]) -> int:
    # A sentence of n words has n + 1 targets in each direction.
    tokens = recipe["epochs"] * (text.train.num_words + len(text.train))
    per_step = _tokens_per_step(recipe)
    if tokens < per_step:
        raise ConfigError(
            f"the corpus gives {tokens} tokens in {recipe['epochs']} epochs, but one step takes "
            f"{per_step}. Lower pretraining.batch_size, or raise pretraining.epochs."
        )
    return tokens // per_step


def _default_name(settings: dict[str, Any]) -> str:
    if settings["init_from"] is None:
        return str(settings["bilm"]["name"])
    return f"{Path(settings['init_from']).name}-{settings['corpus']['name']}"


def _only_one(scratch: Path) -> AbstractContextManager[Any]:
    """Keep other trainings of this name waiting; further ranks of this one belong to it."""
    return FileLock(scratch / "lock") if _is_first() else nullcontext()


def _is_first() -> bool:
    """Whether this is the first rank, as far as the environment tells before a trainer exists."""
    return getattr(rank_zero_only, "rank", 0) == 0


def _is_finished(folder: Path, scratch: Path, identity: dict[str, Any], force: bool) -> bool:
    record = folder / "training.json"
    if force or not record.exists():
        return False
    stored = json.loads(record.read_text(encoding="utf-8")).get("settings", {})
    other = first_difference(stored, identity)
    if other:
        raise PretrainingError(
            f"{folder} was trained with other settings ({other}). Give this training another "
            "name=..., or replace the old one with force=true."
        )
    return True
