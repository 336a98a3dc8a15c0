"""Running one job of a sweep: a failure is recorded, and the next job starts anyway."""

import logging
import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from joblib import cpu_count
from omegaconf import DictConfig

from elmo_bench.config.compose import run_settings
from elmo_bench.config.hydra_main import VISIBLE_GPUS
from elmo_bench.config.settings import LoggerSettings, RunSettings, WandbLogger
from elmo_bench.errors import UserError
from elmo_bench.records.environment import environment
from elmo_bench.records.run import Record, read_record, write_record
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.identity import identity
from elmo_bench.sweep.job import Job, Part
from elmo_bench.sweep.plan import runs_of
from elmo_bench.sweep.threads import threads_per_job
from elmo_bench.training.gpus import take_gpu

NAN = float("nan")


def run_job(
    cfg: DictConfig, number: int, overrides: list[str], folder: Path, launcher: Mapping[str, Any]
) -> float:
    """Run a job, write its file, and return its dev score; NaN if it failed.

    Args:
        cfg: The job's config, as composed by Hydra.
        number: Its number in the sweep.
        overrides: The job's overrides.
        folder: Where its file is written.
        launcher: Hydra's launcher settings.
    """
    start, cpu_start = time.perf_counter(), time.process_time()
    parts, error, arm = [], None, ""
    take_gpu(launcher, number)
    try:
        settings = run_settings(cfg)
        threads = threads_per_job(launcher, cpu_count(), settings.trainer.threads)
        settings = settings.but(
            trainer=settings.trainer.but(threads=threads, progress_bar=False),
            logger=_in_group(settings.logger, folder.parent.name),
        )
        arm = settings.elmo.name
        with _quiet_logging():
            parts = [_attempt(one, overrides, folder) for one in _in_order(settings)]
    except UserError as problem:  # invalid settings, so the runs have no names
        error = _one_line(problem)
    Job(
        number,
        overrides,
        parts,
        error,
        seconds=round(time.perf_counter() - start, 2),
        cpu_seconds=round(time.process_time() - cpu_start, 2),
        threads=sys.modules["torch"].get_num_threads() if "torch" in sys.modules else None,
        gpus=os.environ.get(VISIBLE_GPUS),
    ).write(folder)
    dev_scores = {part.arm: part.scores.get("dev", NAN) for part in parts}
    return dev_scores.get(arm, NAN)


def _in_group(logger: LoggerSettings, sweep: str) -> LoggerSettings:
    """W&B groups the runs of a sweep, unless the user has named a group."""
    if isinstance(logger, WandbLogger) and logger.group is None:
        return logger.but(group=sweep)
    return logger


@contextmanager
def _quiet_logging() -> Iterator[None]:
    """Keep the log messages of runs off the terminal: a job prints one line when it ends."""
    logger = logging.getLogger("elmo_bench")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _in_order(settings: RunSettings) -> list[RunSettings]:
    """The baseline first, unless another job is running it: then it can wait."""
    runs = runs_of(settings)
    lock = RunFiles.of(runs[0]).folder / "lock"
    if len(runs) > 1 and lock.exists():
        try:
            FileLock(lock, blocking=False).acquire().lock.release()
        except Timeout:
            runs.reverse()
    return runs


def _attempt(settings: RunSettings, overrides: list[str], folder: Path) -> Part:
    files = RunFiles.of(settings)
    before = None if settings.force else files.finished()
    try:
        record = before or _evaluated(settings, overrides)
    except Exception as error:
        files = RunFiles.of(settings)  # its biLM may exist by now
        with (folder / "error.txt").open("a", encoding="utf-8") as file:
            file.write(f"{files.name}\n{traceback.format_exc()}\n")
        _record_failure(settings, overrides, files, _one_line(error))
        return Part(files.name, settings.elmo.name, "failed", error=_one_line(error))
    files = RunFiles.of(settings)
    scores = {split: values[record.metric] for split, values in record.scores.items()}
    state = "done" if before is None else "done before"
    return Part(files.name, settings.elmo.name, state, record.metric, scores)


def _evaluated(settings: RunSettings, overrides: list[str]) -> Record:
    from elmo_bench.runs.stage import evaluate  # torch and Lightning take seconds to import

    return evaluate(settings, overrides)


def _one_line(error: Exception) -> str:
    words = " ".join(str(error).split())
    return words if isinstance(error, UserError) else f"{type(error).__name__}: {words}"


def _record_failure(
    settings: RunSettings, overrides: list[str], files: RunFiles, error: str
) -> None:
    """Write a record of the error, but never over a result."""
    try:
        if read_record(files.record).error is None:
            return
    except ValueError:
        pass  # there is none yet
    failure = Record(
        run=files.run,
        task=settings.task.name,
        seed=settings.seed,
        metric=settings.task.metric,
        data=settings.data.label,
        words=settings.words.name,
        elmo=settings.elmo.name,
        bilm=None if settings.elmo.is_baseline else settings.bilm.name,
        config=identity(settings),
        overrides=overrides,
        scores={},
        error=error,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        environment=environment(),
    )
    write_record(failure, files.record.parent)
