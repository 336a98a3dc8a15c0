"""The stage behind run.py: from settings to a record. The only module that knows the whole path."""

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytorch_lightning import Callback, Trainer
from rich.console import Console

from elmo_bench.config.settings import RunSettings
from elmo_bench.data.example import Split
from elmo_bench.loggers import GuardedLogger, Logged, build_logger
from elmo_bench.records.environment import environment
from elmo_bench.records.lock import file_lock
from elmo_bench.records.run import Record, write_record
from elmo_bench.records.timer import StageTimer
from elmo_bench.report.run_summary import show_comparison
from elmo_bench.runs.bilm import provide_bilm
from elmo_bench.runs.build import RunComponents, build_components
from elmo_bench.runs.epoch_lines import EpochLines
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.header import arm, header
from elmo_bench.runs.history import MetricsHistory
from elmo_bench.runs.identity import identity
from elmo_bench.runs.label_analysis import analyze
from elmo_bench.runs.module import TaskModule
from elmo_bench.runs.predictions import write_prediction_files, write_predictions
from elmo_bench.runs.resume import load_best, outlook, resumable, sealed_checkpoints
from elmo_bench.runs.trainer import new_trainer, set_up_process
from elmo_bench.training.checkpoints import SealedCheckpoints
from elmo_bench.training.interrupts import explained, interruptible

log = logging.getLogger(__name__)


def run(settings: RunSettings, overrides: Sequence[str] = ()) -> float:
    """Run settings, and their baseline if it is missing; show both; return the dev score.

    Args:
        settings: Of the run.
        overrides: The command line that made them, for the record.
    """
    stages = [settings.for_baseline(), settings] if settings.has_baseline else [settings]
    for line in header(stages):
        log.info("%s", line)
    provide_bilm(settings)  # before the baseline: an encoder that cannot be had fails at once
    *before, record = [evaluate(stage, overrides) for stage in stages]
    baseline = before[0] if before else None
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
    lock = file_lock(files.folder / "lock", f"runs {files.name}")
    with lock, explained(lambda: outlook(files)):
        files.remove_leftovers()
        done = None if settings.force else files.finished()
        if done is not None:
            log.info("%s is finished; force=true repeats it", files.record)
            return done
        if settings.force:
            files.restart()
        log.info("== %s: %s", arm(settings), files.name)
        return _execute(settings, overrides, files)


def _execute(settings: RunSettings, overrides: Sequence[str], files: RunFiles) -> Record:
    """Train on train, select on dev, read test once, and write the record."""
    started, timer, metric = _now(), StageTimer(), settings.task.metric
    files.marker.unlink(missing_ok=True)  # its record was lost or damaged
    set_up_process(settings)
    components = build_components(settings, timer)
    log.info("training %s parameters", f"{components.sizes()['trained parameters']:,}")
    model_spec = components.model_spec()
    checkpoints = sealed_checkpoints(files, model_spec)
    start = resumable(files, checkpoints.identity)
    files.write_model_spec(settings, model_spec)
    history = MetricsHistory(files.folder / "curves.csv")
    logger = build_logger(settings.logger, files.folder, _logged(settings, files, started))
    try:
        steps = components.data.steps_per_epoch()
        trainer = _visible_trainer(settings, files, checkpoints, history, logger, steps)
        with interruptible(trainer):
            trainer.fit(components.module, components.data, ckpt_path=start, weights_only=True)
        timer.seconds["training"] = history.seconds
        dev = _best_row(history.rows, metric)
        best = _load_best(components.module, files, dev["step"])
        predictions: dict[Split, dict[str, Any]] = {"dev": best}
        with timer("test"), interruptible(trainer):
            [tested] = trainer.test(components.module, components.data, verbose=False)
        predictions["test"] = components.module.predictions_by_id()
        write_prediction_files(files.folder, components.task, components.splits, predictions)
        files.refuse_changed_inputs(settings)
        record = _record(
            settings,
            overrides,
            components,
            environment=environment(trainer.strategy.root_device),
            run=files.run,
            scores={"dev": _scores(dev, "dev"), "test": _scores(tested, "test")},
            epochs=history.rows,
            seconds={stage: round(value, 2) for stage, value in timer.seconds.items()},
            predictions=write_predictions(
                files.record, components.task, components.splits["test"], predictions["test"]
            ),
            **analyze(components.task, metric, components.splits["test"], predictions["test"]),
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


def _visible_trainer(
    settings: RunSettings,
    files: RunFiles,
    checkpoints: SealedCheckpoints,
    history: MetricsHistory,
    logger: GuardedLogger | None,
    steps_per_epoch: int,
) -> Trainer:
    """The trainer of a run, with a progress bar on a terminal and a line per epoch elsewhere."""
    live = settings.trainer.progress_bar and Console().is_terminal
    shown = settings.but(trainer=settings.trainer.but(progress_bar=live))
    lines: list[Callback] = [] if live else [EpochLines(history, settings.task.metric)]
    return new_trainer(shown, files, checkpoints, history, logger, steps_per_epoch, lines)


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
        **values,
    )


def _logged(settings: RunSettings, files: RunFiles, started: str) -> Logged:
    """How a logger knows the run: a resumed run by the same id, a repeated one by a new one."""
    again = f"-{''.join(filter(str.isdigit, started))}" if settings.force else ""
    kind = "baseline" if settings.elmo.is_baseline else settings.elmo.name
    task = settings.task.name
    return Logged(f"{files.name}{again}", files.name, task, kind, identity(settings))


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

    logger.log_summary(values, files.record, draw if record.layer_weights else None)


def _load_best(module: TaskModule, files: RunFiles, step: int) -> dict[str, Any]:
    """Load the weights that dev selected, with EMA the averaged ones; return their predictions.

    Not by `ckpt_path`: that would pass the checkpoint to the callbacks too, and the one for EMA
    would replace the averaged weights by those of the last step.
    """
    checkpoint = load_best(files, step)
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
