"""The stage behind run.py: from a config to a result record. The only place that knows the path."""

import logging
import shutil
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from omegaconf import DictConfig
from pytorch_lightning import Callback, Trainer, seed_everything
from pytorch_lightning.callbacks import EarlyStopping, EMAWeightAveraging, ModelCheckpoint

from elmo_bench.assemble import assemble
from elmo_bench.clock import Clock
from elmo_bench.config import baseline_of, has_baseline, identity, plain
from elmo_bench.course import Course
from elmo_bench.example import Split
from elmo_bench.loggers import GuardedLogger, build_logger
from elmo_bench.module import TaskModule
from elmo_bench.predictions import write_prediction_files, write_predictions
from elmo_bench.records import Record, environment, write_record
from elmo_bench.report.comparison import show_comparison
from elmo_bench.runs import RunFiles

log = logging.getLogger(__name__)


def run(cfg: DictConfig) -> float:
    """Run a config, and its baseline when there is none yet; show both; return the dev score."""
    baseline = None
    if has_baseline(cfg):
        baseline = evaluate(baseline_of(cfg))
    record = evaluate(cfg)
    show_comparison(baseline, record, plain(cfg.task.published))
    return record.scores["dev"][record.metric]


def evaluate(cfg: DictConfig) -> Record:
    """Give the record of a config, by running it unless that was done.

    Two processes with the same config do not run it twice: the second waits for the first.
    """
    files = RunFiles.of(cfg)
    files.folder.mkdir(parents=True, exist_ok=True)
    with FileLock(files.folder / "lock"):
        done = None if cfg.force else files.finished()
        if done is not None:
            log.info("%s is done already; force=true repeats it", files.record)
            return done
        if cfg.force:
            shutil.rmtree(files.checkpoints, ignore_errors=True)
        return _execute(cfg, files)


def _execute(cfg: DictConfig, files: RunFiles) -> Record:
    """Train on train, select on dev, read test once, and write the record."""
    started, clock = _now(), Clock()
    prepare(cfg)
    parts = assemble(cfg, clock)
    files.write_blueprint(cfg, parts.blueprint())
    course = Course(files.folder / "curves.csv")
    logger = build_logger(plain(cfg.logger), files.folder, files.name, cfg.task.name, identity(cfg))
    try:
        trainer = new_trainer(cfg, files, course, logger)
        trainer.fit(parts.module, parts.data, ckpt_path=files.resumable())
        clock.seconds["training"] = course.seconds
        predictions: dict[Split, dict[str, Any]] = {"dev": _load_best(parts.module, files)}
        with clock("test"):
            [tested] = trainer.test(parts.module, parts.data, verbose=False)
        predictions["test"] = parts.module.predictions_by_id()
        write_prediction_files(files.folder, parts.task, parts.splits, predictions)
        dev = _best_row(course.rows, cfg)
        scores = {"dev": _scores(dev, "dev"), "test": _scores(tested, "test")}
        record = Record(
            run=files.run,
            task=cfg.task.name,
            seed=cfg.seed,
            metric=cfg.task.metric,
            data=cfg.data.name,
            words=cfg.words.name,
            elmo=cfg.elmo.name,
            bilm=cfg.bilm.name if parts.frozen else None,
            config=identity(cfg),
            scores=scores,
            layer_weights=parts.module.layer_weights(),
            epochs=course.rows,
            sizes=parts.sizes(),
            seconds={stage: round(value, 2) for stage, value in clock.seconds.items()},
            notes=dict(parts.notes),
            perplexity=parts.perplexity,
            fingerprint=parts.frozen.fingerprint if parts.frozen else None,
            predictions=write_predictions(
                files.record, parts.task, parts.splits["test"], predictions["test"]
            ),
            started=started,
            finished=_now(),
            environment=environment(),
        )
        write_record(record, files.record.parent)
        if logger is not None:
            _log_outcome(logger, cfg, files, record)
        return record
    finally:
        if logger is not None:
            logger.finish()


def _log_outcome(logger: GuardedLogger, cfg: DictConfig, files: RunFiles, record: Record) -> None:
    """Scores, the gain over the baseline where that was run, and the layer weights drawn."""
    values = {
        f"final/{split}/{name}": value
        for split, scores in record.scores.items()
        for name, value in scores.items()
    }
    baseline = RunFiles.of(baseline_of(cfg)).finished() if has_baseline(cfg) else None
    for split, scores in (baseline.scores if baseline else {}).items():
        values[f"baseline/{split}/{record.metric}"] = scores[record.metric]
        values[f"gain/{split}/{record.metric}"] = (
            record.scores[split][record.metric] - scores[record.metric]
        )

    def draw() -> Path:
        from elmo_bench.report.figures import layer_weights, style  # loads matplotlib
        from elmo_bench.report.groups import Runs

        path = files.folder / "layer_weights.png"
        with style.styled():
            style.save(layer_weights.draw_groups(Runs([record]).with_elmo), path)
        return path

    logger.log_summary(values, draw if record.layer_weights else None)


def new_trainer(
    cfg: DictConfig, files: RunFiles, course: Course, logger: Any, more: Sequence[Callback] = ()
) -> Trainer:
    """The trainer of a run; its callbacks see each dev pass after the course has noted it."""
    training, monitor = cfg.task.training, f"dev/{cfg.task.metric}"
    callbacks: list[Callback] = [
        course,  # before the checkpoints, which keep its state
        *more,
        EarlyStopping(monitor, patience=training.patience, mode="max"),
        ModelCheckpoint(
            files.checkpoints, "best", monitor=monitor, mode="max", enable_version_counter=False
        ),
        # After the whole epoch, so that a resumed run starts at the next one.
        ModelCheckpoint(
            files.checkpoints, "last", save_on_train_epoch_end=True, enable_version_counter=False
        ),
    ]
    if training.ema is not None:
        callbacks.insert(0, EMAWeightAveraging(decay=training.ema))
    return Trainer(
        accelerator=cfg.trainer.accelerator,
        devices=1,
        precision=training.precision,
        max_epochs=training.max_epochs,
        gradient_clip_val=training.clip,
        gradient_clip_algorithm=training.clip_by,
        val_check_interval=training.eval_every,
        reload_dataloaders_every_n_epochs=1,  # the order of examples depends on the epoch
        num_sanity_val_steps=0,
        callbacks=callbacks,
        logger=logger or False,
        enable_progress_bar=cfg.trainer.progress_bar,
        enable_model_summary=False,
        log_every_n_steps=10,
    )


def prepare(cfg: DictConfig) -> None:
    """Threads and chance as a run wants them, and Lightning's notes on itself off the terminal."""
    if cfg.trainer.threads is not None:
        torch.set_num_threads(cfg.trainer.threads)
    seed_everything(cfg.seed, verbose=False)
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", module="pytorch_lightning")


def _load_best(module: TaskModule, files: RunFiles) -> dict[str, Any]:
    """Give a module the weights that dev selected, with EMA the averaged ones; their predictions.

    Not by `ckpt_path`: that gives the checkpoint to the callbacks too, and the one for EMA would
    put the weights of the last step in place of their average.
    """
    checkpoint = torch.load(files.best, map_location="cpu", weights_only=True)
    module.load_state_dict(checkpoint["state_dict"])
    predictions: dict[str, Any] = checkpoint["predictions"]
    return predictions


def _best_row(epochs: list[dict[str, Any]], cfg: DictConfig) -> dict[str, Any]:
    """The dev pass that the checkpoint was selected by: the first of the best."""
    return max(epochs, key=lambda row: row[f"dev/{cfg.task.metric}"])


def _scores(values: Mapping[str, Any], split: str) -> dict[str, float]:
    prefix = f"{split}/"
    return {key.removeprefix(prefix): float(v) for key, v in values.items() if prefix in key}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
