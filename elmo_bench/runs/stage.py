"""The stage behind run.py: from settings to a record. The only module that knows the whole path."""

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock

from elmo_bench.config.settings import RunSettings
from elmo_bench.data.example import Split
from elmo_bench.loggers import GuardedLogger, build_logger
from elmo_bench.records.environment import environment
from elmo_bench.records.run import Record, write_record
from elmo_bench.records.timer import StageTimer
from elmo_bench.report.run_summary import show_comparison
from elmo_bench.runs.bilm import provide_bilm
from elmo_bench.runs.build import RunComponents, build_components
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.history import MetricsHistory
from elmo_bench.runs.identity import identity
from elmo_bench.runs.module import TaskModule
from elmo_bench.runs.predictions import write_prediction_files, write_predictions
from elmo_bench.runs.trainer import new_trainer, set_up_process

log = logging.getLogger(__name__)


def run(settings: RunSettings, overrides: Sequence[str] = ()) -> float:
    """Run settings, and their baseline if it is missing; show both; return the dev score.

    Args:
        settings: Of the run.
        overrides: The command line that made them, for the record.
    """
    provide_bilm(settings)  # before the baseline: an encoder that cannot be had fails at once
    baseline = None
    if settings.has_baseline:
        baseline = evaluate(settings.for_baseline(), overrides)
    record = evaluate(settings, overrides)
    published = settings.task.published
    show_comparison(baseline, record, published.plain() if published else {})
    return record.scores["dev"][record.metric]


def evaluate(settings: RunSettings, overrides: Sequence[str] = ()) -> Record:
    """Return the record of a run, and do the run first unless it is finished.

    Of two processes with the same settings, the second waits for the first.
    """
    provide_bilm(settings)
    files = RunFiles.of(settings)
    files.folder.mkdir(parents=True, exist_ok=True)
    with FileLock(files.folder / "lock"):
        done = None if settings.force else files.finished()
        if done is not None:
            log.info("%s is finished; force=true repeats it", files.record)
            return done
        if settings.force:
            files.restart()
        return _execute(settings, overrides, files)


def _execute(settings: RunSettings, overrides: Sequence[str], files: RunFiles) -> Record:
    """Train on train, select on dev, read test once, and write the record."""
    started, timer = _now(), StageTimer()
    files.marker.unlink(missing_ok=True)  # its record was lost or damaged
    set_up_process(settings)
    components = build_components(settings, timer)
    files.write_model_spec(settings, components.model_spec())
    history = MetricsHistory(files.folder / "curves.csv")
    logger = build_logger(
        settings.logger, files.folder, files.name, settings.task.name, identity(settings)
    )
    try:
        trainer = new_trainer(settings, files, history, logger, components.data.steps_per_epoch())
        begun = files.resumable()
        trainer.fit(components.module, components.data, ckpt_path=begun, weights_only=True)
        timer.seconds["training"] = history.seconds
        predictions: dict[Split, dict[str, Any]] = {"dev": _load_best(components.module, files)}
        with timer("test"):
            [tested] = trainer.test(components.module, components.data, verbose=False)
        predictions["test"] = components.module.predictions_by_id()
        write_prediction_files(files.folder, components.task, components.splits, predictions)
        dev = _best_row(history.rows, settings.task.metric)
        record = _record(
            settings,
            overrides,
            components,
            run=files.run,
            scores={"dev": _scores(dev, "dev"), "test": _scores(tested, "test")},
            epochs=history.rows,
            seconds={stage: round(value, 2) for stage, value in timer.seconds.items()},
            predictions=write_predictions(
                files.record, components.task, components.splits["test"], predictions["test"]
            ),
            started=started,
            finished=_now(),
        )
        write_record(record, files.record.parent)
        files.mark_finished()
        if logger is not None:
            _log_outcome(logger, settings, files, record)
        return record
    finally:
        if logger is not None:
            logger.finish()


def _record(
    settings: RunSettings, overrides: Sequence[str], components: RunComponents, **values: Any
) -> Record:
    """The record: settings, components, and the results in `values`."""
    frozen = components.frozen
    return Record(
        task=settings.task.name,
        seed=settings.seed,
        metric=settings.task.metric,
        data=settings.data.label,
        words=settings.words.name,
        elmo=settings.elmo.name,
        bilm=settings.bilm.name if frozen else None,
        config=identity(settings),
        overrides=list(overrides),
        layer_weights=components.module.layer_weights(),
        sizes=components.sizes(),
        skipped=dict(components.skipped),
        perplexity=components.perplexity,
        fingerprint=frozen.fingerprint if frozen else None,
        environment=environment(),
        **values,
    )


def _log_outcome(
    logger: GuardedLogger, settings: RunSettings, files: RunFiles, record: Record
) -> None:
    """Log scores, the gain over the baseline if it was run, and a plot of layer weights."""
    values = {
        f"final/{split}/{name}": value
        for split, scores in record.scores.items()
        for name, value in scores.items()
    }
    baseline = RunFiles.of(settings.for_baseline()).finished() if settings.has_baseline else None
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
    """Load the weights that dev selected, with EMA the averaged ones; return their predictions.

    Not by `ckpt_path`: that would pass the checkpoint to the callbacks too, and the one for EMA
    would replace the averaged weights by those of the last step.
    """
    checkpoint = torch.load(files.best, map_location="cpu", weights_only=True)
    module.load_state_dict(checkpoint["state_dict"])
    predictions: dict[str, Any] = checkpoint["predictions"]
    return predictions


def _best_row(epochs: list[dict[str, Any]], metric: str) -> dict[str, Any]:
    """The dev pass of the selected checkpoint: the first with the best score."""
    return max(epochs, key=lambda row: row[f"dev/{metric}"])


def _scores(values: Mapping[str, Any], split: str) -> dict[str, float]:
    prefix = f"{split}/"
    return {key.removeprefix(prefix): float(v) for key, v in values.items() if prefix in key}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
