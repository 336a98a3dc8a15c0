"""The stage that pretrains a biLM: the only functions that know the whole path."""

import json
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig
from pytorch_lightning import LightningDataModule, Trainer
from pytorch_lightning.loggers import Logger
from pytorch_lightning.utilities.rank_zero import rank_zero_only

from elmo_bench.bilm.callbacks import Clock, HeldOutPerplexity, LossCurve, ResumeCheckpoint
from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.module import BilmTraining, DivergedError
from elmo_bench.bilm.perplexity import load_softmax
from elmo_bench.bilm.progress import PretrainingProgress
from elmo_bench.bilm.softmax import Softmax, build_softmax
from elmo_bench.bilm.store import PreparedCorpus, prepare
from elmo_bench.bilm.streams import StreamLoader
from elmo_bench.bilm.vocabulary import Vocabulary
from elmo_bench.config import CONF, ConfigError, build, plain
from elmo_bench.loggers import build_logger
from elmo_bench.memory import keep_freed_memory


class PretrainingError(RuntimeError):
    """A pretraining that cannot go on; says what to do."""


def pretrain_config(*overrides: str) -> DictConfig:
    """The config that `python pretrain.py OVERRIDES` would have."""
    if GlobalHydra.instance().is_initialized():  # run.py has set Hydra up, on the same folder
        return compose("pretrain", list(overrides))
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("pretrain", list(overrides))


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
        key: settings[key] for key in ("bilm", "corpus", "pretraining", "init_from", "half")
    }
    identity["bilm"] = {key: identity["bilm"][key] for key in ("name", "encoder", "lstm")}
    identity["corpus"] = {k: v for k, v in identity["corpus"].items() if k != "cache"}
    with _only_one(scratch):
        if not _is_finished(folder, scratch, identity, settings["force"]):
            _train(cfg, settings, identity, folder, scratch)
    return folder


def _train(
    cfg: DictConfig,
    settings: dict[str, Any],
    identity: dict[str, Any],
    folder: Path,
    scratch: Path,
) -> None:
    keep_freed_memory()
    if settings["trainer"]["threads"]:
        torch.set_num_threads(settings["trainer"]["threads"])
    recipe = settings["pretraining"]
    torch.manual_seed(recipe["seed"])
    corpus = build(cfg.corpus)
    text = prepare(corpus, Path(settings["paths"]["cache"]) / "corpus")
    identity = {**identity, "text": corpus.fingerprint()}
    bilm, softmax, vocabulary = _new_model(settings, text, folder.name)
    steps = _num_steps(text, recipe)
    module = BilmTraining(
        bilm,
        softmax,
        recipe["optimizer"],
        recipe["schedule"],
        loss_scale=float(recipe["steps"]) if recipe["sum_over_steps"] else 1.0,
        seed=recipe["seed"],
    )
    resume = scratch / "resume.ckpt"
    heldout = HeldOutPerplexity(
        text.heldout,
        vocabulary,
        every=max(1, steps // recipe["validations"]),
        at_start=settings["init_from"] is not None,
    )
    budget = recipe["budget_minutes"]
    clock = Clock(None if budget is None else 60 * budget)
    logger = build_logger(settings["logger"], scratch, folder.name, "pretraining", identity)
    trainer = _new_trainer(settings, steps, scratch, [clock, heldout], identity, logger)
    data = StreamData(text, vocabulary, bilm, recipe, steps * recipe["accumulate"])
    checkpoint = _found(resume, identity, settings["force"])
    try:
        trainer.fit(module, data, ckpt_path=checkpoint, weights_only=True)
    except DivergedError as error:
        raise PretrainingError(_diverged(error, resume)) from error
    finally:
        if logger is not None:
            logger.finish()
    if trainer.interrupted:
        raise KeyboardInterrupt
    if trainer.is_global_zero:
        record = {
            "name": folder.name,
            "corpus": settings["corpus"]["name"],
            "steps": trainer.global_step,
            "tokens": trainer.global_step
            * recipe["accumulate"]
            * recipe["lanes"]
            * recipe["steps"],
            "training_words": text.train.num_words,
            "vocabulary_size": len(vocabulary),
            "seconds": round(clock.seconds, 1),
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "perplexity": heldout.history[-1]["perplexity"],
            "history": heldout.history,
            "settings": {**identity, "corpus": settings["corpus"]},
        }
        extra = {"softmax": softmax.state_dict()}
        bilm.save(folder, record, extra=extra, half=settings["half"])
        resume.unlink(missing_ok=True)
    trainer.strategy.barrier()


class StreamData(LightningDataModule):
    """Gives each rank its share of the lanes."""

    def __init__(
        self,
        text: PreparedCorpus,
        vocabulary: Vocabulary,
        bilm: BiLm,
        recipe: Mapping[str, Any],
        num_batches: int,
    ) -> None:
        super().__init__()
        self.text, self.vocabulary, self.encoder = text, vocabulary, bilm.encoder
        self.recipe, self.num_batches = recipe, num_batches

    def train_dataloader(self) -> StreamLoader:
        assert self.trainer is not None
        lanes, world = self.recipe["lanes"], self.trainer.world_size
        if lanes % world:
            raise ConfigError(f"pretraining.lanes={lanes} cannot be shared by {world} processes.")
        share, rank = lanes // world, self.trainer.global_rank
        return StreamLoader(
            self.text.train,
            self.vocabulary,
            self.encoder,
            lanes=lanes,
            own=range(rank * share, (rank + 1) * share),
            steps=self.recipe["steps"],
            num_batches=self.num_batches,
            seed=self.recipe["seed"],
        )


def _new_model(
    settings: dict[str, Any], text: PreparedCorpus, name: str
) -> tuple[BiLm, Softmax, Vocabulary]:
    """An untrained biLM and softmax, or those to start from."""
    recipe = settings["pretraining"]
    if settings["init_from"] is not None:
        bilm = BiLm.load(settings["init_from"])
        softmax, vocabulary = load_softmax(bilm)
        bilm.config["name"] = name
        return bilm.train(), softmax.train(), vocabulary
    vocabulary = text.vocabulary(**recipe["vocabulary"])
    model = settings["bilm"]
    bilm = BiLm(name, model["encoder"], model["lstm"], vocabulary.words)
    softmax = build_softmax(recipe["loss"], bilm.projection_dim, len(vocabulary))
    return bilm, softmax, vocabulary


def _new_trainer(
    settings: dict[str, Any],
    steps: int,
    scratch: Path,
    callbacks: list[Any],
    identity: dict[str, Any],
    logger: Logger | None,
) -> Trainer:
    how, recipe = settings["trainer"], settings["pretraining"]
    callbacks = [
        *callbacks,
        LossCurve(scratch / "losses.csv", how["log_every"]),
        ResumeCheckpoint(
            scratch / "resume.ckpt", identity, how["checkpoint_steps"], how["checkpoint_minutes"]
        ),
    ]
    if how["progress_bar"]:
        tokens = recipe["lanes"] * recipe["steps"]
        callbacks.append(PretrainingProgress(tokens, recipe["loss"]["kind"] == "sampled"))
    trainer = Trainer(
        accelerator=how["accelerator"],
        devices=how["devices"],
        num_nodes=how["num_nodes"],
        strategy=how["strategy"],
        precision=recipe["precision"],
        max_epochs=1,  # for Lightning: the loader counts the epochs of the corpus
        max_steps=steps,
        accumulate_grad_batches=recipe["accumulate"],
        gradient_clip_val=recipe["clip"],
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


def _num_steps(text: PreparedCorpus, recipe: Mapping[str, Any]) -> int:
    # A sentence of n words has n + 1 targets in each direction.
    tokens = recipe["epochs"] * (text.train.num_words + len(text.train))
    per_step = recipe["lanes"] * recipe["steps"] * recipe["accumulate"]
    if tokens < per_step:
        raise ConfigError(
            f"the corpus gives {tokens} tokens in {recipe['epochs']} epochs, but one step takes "
            f"{per_step}. Lower pretraining.lanes, or raise pretraining.epochs."
        )
    return tokens // per_step


def _default_name(settings: dict[str, Any]) -> str:
    if settings["init_from"] is None:
        return str(settings["bilm"]["name"])
    return f"{Path(settings['init_from']).name}-{settings['corpus']['name']}"


def _only_one(scratch: Path) -> AbstractContextManager[Any]:
    """Keep other trainings of this name waiting; further ranks of this one belong to it."""
    return FileLock(scratch / "lock") if getattr(rank_zero_only, "rank", 0) == 0 else nullcontext()


def _is_finished(folder: Path, scratch: Path, identity: dict[str, Any], force: bool) -> bool:
    record = folder / "training.json"
    if force or not record.exists():
        return False
    stored = json.loads(record.read_text(encoding="utf-8")).get("settings", {})
    other = _difference(stored, identity)
    if other:
        raise PretrainingError(
            f"{folder} was trained with other settings ({other}). Give this training another "
            "name=..., or replace the old one with force=true."
        )
    return True


def _found(resume: Path, identity: dict[str, Any], force: bool) -> Path | None:
    """The checkpoint to go on from, if there is one of this very training."""
    if not resume.exists():
        return None
    stored = torch.load(resume, map_location="cpu", weights_only=True, mmap=True)["identity"]
    other = _difference(stored, identity)
    if other and not force:
        raise PretrainingError(
            f"{resume} is of an unfinished training with other settings ({other}). Give this one "
            "another name=..., or discard the unfinished one with force=true."
        )
    return None if other else resume


def _difference(stored: Any, wanted: Any, place: str = "") -> str:
    """The first place where two settings differ, with both values; empty if there is none."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        for key in wanted:
            found = _difference(stored.get(key), wanted[key], f"{place}.{key}" if place else key)
            if found:
                return found
        return ""
    return "" if stored == wanted else f"{place} was {stored} and is {wanted}"


def _diverged(error: DivergedError, resume: Path) -> str:
    kept = f"The last good checkpoint is kept in {resume}. " if resume.exists() else ""
    return (
        f"{error} {kept}Start again with a lower pretraining.optimizer.lr or pretraining.clip "
        "(and another name=... or force=true)."
    )
