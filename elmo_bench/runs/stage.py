"""The stage behind run.py: from a config to a result record. The only place that knows the path."""

import logging
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from omegaconf import DictConfig

from elmo_bench.config.compose import plain
from elmo_bench.config.identity import baseline_of, has_baseline, identity
from elmo_bench.data.example import Split
from elmo_bench.loggers import GuardedLogger, build_logger
from elmo_bench.records.environment import environment
from elmo_bench.records.run import Record, write_record
from elmo_bench.records.timer import StageTimer
from elmo_bench.report.comparison import show_comparison
from elmo_bench.runs.build import build_components
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.history import MetricsHistory
from elmo_bench.runs.module import TaskModule
from elmo_bench.runs.predictions import write_prediction_files, write_predictions
from elmo_bench.runs.trainer import new_trainer, set_up_process

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
    started, timer = _now(), StageTimer()
    set_up_process(cfg)
    components = build_components(cfg, timer)
    files.write_model_spec(cfg, components.model_spec())
    history = MetricsHistory(files.folder / "curves.csv")
    logger = build_logger(plain(cfg.logger), files.folder, files.name, cfg.task.name, identity(cfg))
    try:
        trainer = new_trainer(cfg, files, history, logger)
        trainer.fit(components.module, components.data, ckpt_path=files.resumable())
        timer.seconds["training"] = history.seconds
        predictions: dict[Split, dict[str, Any]] = {"dev": _load_best(components.module, files)}
        with timer("test"):
            [tested] = trainer.test(components.module, components.data, verbose=False)
        predictions["test"] = components.module.predictions_by_id()
        write_prediction_files(files.folder, components.task, components.splits, predictions)
        dev = _best_row(history.rows, cfg)
        scores = {"dev": _scores(dev, "dev"), "test": _scores(tested, "test")}
        record = Record(
            run=files.run,
            task=cfg.task.name,
            seed=cfg.seed,
            metric=cfg.task.metric,
            data=cfg.data.name,
            words=cfg.words.name,
            elmo=cfg.elmo.name,
            bilm=cfg.bilm.name if components.frozen else None,
            config=identity(cfg),
            scores=scores,
            layer_weights=components.module.layer_weights(),
            epochs=history.rows,
            sizes=components.sizes(),
            seconds={stage: round(value, 2) for stage, value in timer.seconds.items()},
            skipped=dict(components.skipped),
            perplexity=components.perplexity,
            fingerprint=components.frozen.fingerprint if components.frozen else None,
            predictions=write_predictions(
                files.record, components.task, components.splits["test"], predictions["test"]
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
