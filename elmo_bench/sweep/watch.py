"""Watches the jobs of a sweep through their files, whichever launcher started them."""

import threading
from itertools import compress
from pathlib import Path

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from elmo_bench.report.terminal import new_console
from elmo_bench.sweep.job import Job, read_jobs
from elmo_bench.sweep.summary import show_jobs, show_line, show_tables

EVERY = 0.3  # seconds between two checks for ended jobs


class Watch(threading.Thread):
    """Prints a line for each job that ends, and finally the tables.

    Args:
        config: The config of the whole sweep.
        labels: How the jobs are displayed, by number.
    """

    def __init__(self, config: DictConfig, labels: list[str]) -> None:
        super().__init__(daemon=True)
        self.config, self.labels = config, labels
        self.folder = Path(config.hydra.sweep.dir)
        self.seen: dict[int, Job] = {}
        self.ended = threading.Event()
        self.console = new_console()

    def run(self) -> None:
        """Check for ended jobs until stopped."""
        while not self.ended.wait(EVERY):
            self._look()

    def finish(self) -> bool:
        """Stop, show the tables, and return whether every job succeeded."""
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
    """The overrides of each job: hydra.sweeper.params and the command line, expanded."""
    params = [f"{key}={value}" for key, value in (config.hydra.sweeper.params or {}).items()]
    overrides = OverridesParser.create().parse_overrides([*params, *config.hydra.overrides.task])
    [jobs] = BasicSweeper.split_arguments(overrides, None)
    return jobs


def labels(jobs: list[list[str]]) -> list[str]:
    """A label for each job: the overrides in which jobs differ."""
    varying = [len({job[i] for job in jobs}) > 1 for i in range(len(jobs[0]))]
    return [" ".join(compress(job, varying)) or " ".join(job) for job in jobs]
