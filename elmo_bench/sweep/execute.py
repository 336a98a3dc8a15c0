"""Running one job of a sweep: a failure is written down, and the next job starts all the same."""

import logging
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
from omegaconf.errors import OmegaConfBaseException

from elmo_bench.config.checks import check
from elmo_bench.config.compose import ConfigError
from elmo_bench.config.identity import identity
from elmo_bench.records.environment import environment
from elmo_bench.records.run import Record, read_record, write_record
from elmo_bench.runs.files import RunFiles
from elmo_bench.sweep.job import Job, Part
from elmo_bench.sweep.plan import configs_of
from elmo_bench.sweep.threads import threads_per_job

NAN = float("nan")


def run_job(
    cfg: DictConfig, number: int, overrides: list[str], folder: Path, launcher: Mapping[str, Any]
) -> float:
    """Run a job, write its file, and give its dev score; not a number if it failed.

    Args:
        cfg: The config of the job.
        number: Its place in the sweep.
        overrides: What was given for this job.
        folder: Where its file goes.
        launcher: Hydra's settings of what starts the jobs.
    """
    start, cpu_start = time.perf_counter(), time.process_time()
    threads = threads_per_job(launcher, cpu_count(), cfg.trainer.threads)
    cfg.trainer.threads, cfg.trainer.progress_bar = threads, False
    parts, error = [], None
    try:
        with _one_line_only():
            parts = [_attempt(config, folder) for config in _in_order(cfg)]
    except OmegaConfBaseException as problem:  # a value is missing, so the runs have no names
        error = _in_a_line(problem)
    Job(
        number,
        overrides,
        parts,
        error,
        seconds=round(time.perf_counter() - start, 2),
        cpu_seconds=round(time.process_time() - cpu_start, 2),
        threads=sys.modules["torch"].get_num_threads() if "torch" in sys.modules else None,
    ).write(folder)
    dev_scores = {part.arm: part.scores.get("dev", NAN) for part in parts}
    return dev_scores.get(cfg.elmo.name, NAN)


@contextmanager
def _one_line_only() -> Iterator[None]:
    """Keep the notes of runs off the terminal: a job is one line, when it ends."""
    logger = logging.getLogger("elmo_bench")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _in_order(cfg: DictConfig) -> list[DictConfig]:
    """The baseline first, unless another job is at it: then there is no need to wait yet."""
    configs = configs_of(cfg)
    lock = RunFiles.of(configs[0]).folder / "lock"
    if len(configs) > 1 and lock.exists():
        try:
            FileLock(lock, blocking=False).acquire().lock.release()
        except Timeout:
            configs.reverse()
    return configs


def _attempt(cfg: DictConfig, folder: Path) -> Part:
    files = RunFiles.of(cfg)
    before = None if cfg.force else files.finished()
    try:
        check(cfg)
        record = before or _evaluated(cfg)
    except Exception as error:
        with (folder / "error.txt").open("a", encoding="utf-8") as file:
            file.write(f"{files.name}\n{traceback.format_exc()}\n")
        _record_failure(cfg, files, _in_a_line(error))
        return Part(files.name, cfg.elmo.name, "failed", error=_in_a_line(error))
    scores = {split: values[record.metric] for split, values in record.scores.items()}
    state = "done" if before is None else "done before"
    return Part(files.name, cfg.elmo.name, state, record.metric, scores)


def _evaluated(cfg: DictConfig) -> Record:
    from elmo_bench.runs.stage import evaluate  # torch and Lightning take seconds to import

    return evaluate(cfg)


def _in_a_line(error: Exception) -> str:
    words = " ".join(str(error).split())
    return words if isinstance(error, ConfigError) else f"{type(error).__name__}: {words}"


def _record_failure(cfg: DictConfig, files: RunFiles, error: str) -> None:
    """Leave a record of the error, but never in the place of a result."""
    try:
        if read_record(files.record).error is None:
            return
    except ValueError:
        pass  # there is none yet
    failure = Record(
        run=files.run,
        task=cfg.task.name,
        seed=cfg.seed,
        metric=cfg.task.metric,
        data=cfg.data.name,
        words=cfg.words.name,
        elmo=cfg.elmo.name,
        bilm=cfg.bilm.name if cfg.elmo.name != "none" else None,
        config=identity(cfg),
        scores={},
        error=error,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        environment=environment(),
    )
    write_record(failure, files.record.parent)
