"""What a sweep tells: a line for each job that ends, at last a table and the comparison."""

import atexit
import logging
import sys
import threading
from itertools import compress
from pathlib import Path
from typing import Any

from hydra import compose
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from joblib import cpu_count
from omegaconf import DictConfig

from elmo_bench.config.compose import ConfigError
from elmo_bench.report.formats import new_console
from elmo_bench.report.names import TABLES
from elmo_bench.sweep.job import Job, read_jobs
from elmo_bench.sweep.plan import plan, show_plan
from elmo_bench.sweep.summary import show_jobs, show_line, show_tables
from elmo_bench.sweep.threads import num_parallel_jobs

FAILED = 3  # exit status of a sweep with failed jobs; Hydra's own is 1, the shell's 2
EVERY = 0.3  # seconds between two looks for ended jobs


class SweepProgress(Callback):
    """Follows the jobs of a sweep through their files, so that any launcher will do."""

    def __init__(self) -> None:
        self.watch: Watch | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"watch": None}  # launchers send callbacks to the jobs, which have nothing to watch

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Refuse what cannot go well, and start to watch; a dry run ends here."""
        try:
            num_parallel_jobs(config.hydra.launcher, cpu_count())
            for table in set(config.tables) - set(TABLES):
                raise ConfigError(f"tables: there is no {table} but {', '.join(TABLES)}")
        except ConfigError as error:
            sys.exit(f"run.py: {error}")
        for name in ("hydra", "hydra_plugins"):
            # The lines of the sweep say the same, and when it is done.
            logging.getLogger(name).setLevel(logging.WARNING)
        jobs = job_overrides(config)
        if config.dry_run:
            show_plan(part for job in jobs for part in plan(compose(kwargs["config_name"], job)))
            sys.exit(0)
        self.watch = Watch(config, labels(jobs))
        atexit.register(self.watch.finish)  # a killed job may end the sweep with an exception
        self.watch.start()

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Show what came out; failed jobs are the exit status."""
        assert self.watch is not None
        atexit.unregister(self.watch.finish)
        if not self.watch.finish():
            sys.exit(FAILED)


class Watch(threading.Thread):
    """Prints a line for each job that ends, and at last the tables.

    Args:
        config: The config of the whole sweep.
        labels: The jobs in words, by number.
    """

    def __init__(self, config: DictConfig, labels: list[str]) -> None:
        super().__init__(daemon=True)
        self.config, self.labels = config, labels
        self.folder = Path(config.hydra.sweep.dir)
        self.seen: dict[int, Job] = {}
        self.ended = threading.Event()
        self.console = new_console()

    def run(self) -> None:
        """Look for ended jobs until told to stop."""
        while not self.ended.wait(EVERY):
            self._look()

    def finish(self) -> bool:
        """Stop, show all, and say whether every job went well."""
        self.ended.set()
        self.join()
        self._look()
        jobs = [self.seen[number] for number in sorted(self.seen)]
        if jobs:
            show_jobs(jobs, self.labels, self.folder, self.console)
            results, tables = Path(self.config.paths.results), list(self.config.tables)
            show_tables(jobs, results, tables, self.console)
        return len(jobs) == len(self.labels) and not any(job.errors for job in jobs)

    def _look(self) -> None:
        for job in read_jobs(self.folder):
            if job.number not in self.seen:
                self.seen[job.number] = job
                show_line(job, self.labels, len(self.seen), self.console)


def job_overrides(config: DictConfig) -> list[list[str]]:
    """The jobs that the sweeper will make of hydra.sweeper.params and the command line."""
    params = [f"{key}={value}" for key, value in (config.hydra.sweeper.params or {}).items()]
    overrides = OverridesParser.create().parse_overrides([*params, *config.hydra.overrides.task])
    [jobs] = BasicSweeper.split_arguments(overrides, None)
    return jobs


def labels(jobs: list[list[str]]) -> list[str]:
    """What tells jobs apart."""
    varying = [len({job[place] for job in jobs}) > 1 for place in range(len(jobs[0]))]
    return [" ".join(compress(job, varying)) or " ".join(job) for job in jobs]
