"""Hydra's callback before and after a sweep; every run imports it, so its own imports are lazy."""

import atexit
import logging
import sys
from typing import TYPE_CHECKING, Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

if TYPE_CHECKING:
    from elmo_bench.sweep.watch import Watch

HERE = ("BasicLauncher", "JoblibLauncher", "LocalLauncher")  # others may have other files
FAILED = 3  # exit status of a sweep with failed jobs; Hydra's own is 1, the shell's 2


class SweepProgress(Callback):
    """Shows a line for each job that ends, then a table and the comparison."""

    def __init__(self) -> None:
        self.watch: Watch | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"watch": None}  # launchers pickle callbacks for the jobs, which watch nothing

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Check the config and start watching the jobs; a dry run ends here."""
        from elmo_bench.errors import end
        from elmo_bench.sweep.watch import Watch, job_overrides, labels

        jobs = job_overrides(config)
        try:
            _check(config)
            if config.dry_run:
                _show_plan(jobs)
                sys.exit(0)
            if any(map(str(config.hydra.launcher._target_).endswith, HERE)):
                _check_inputs(jobs)
        except Exception as error:
            sys.exit(end("run.py", error))
        for name in ("hydra", "hydra_plugins"):
            # Our own lines report each job when it ends.
            logging.getLogger(name).setLevel(logging.WARNING)
        self.watch = Watch(config, labels(jobs))
        atexit.register(self.watch.finish)  # a killed job may end the sweep with an exception
        self.watch.start()

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Show the results; exit with status 3 if jobs failed."""
        assert self.watch is not None
        atexit.unregister(self.watch.finish)
        if not self.watch.finish():
            sys.exit(FAILED)


def _check(config: DictConfig) -> None:
    from joblib import cpu_count

    from elmo_bench.config.errors import ConfigError
    from elmo_bench.report.names import TABLES
    from elmo_bench.sweep.threads import num_parallel_jobs

    num_parallel_jobs(config.hydra.launcher, cpu_count())
    for table in set(config.tables) - set(TABLES):
        raise ConfigError(f"tables={table}: unknown; allowed are {', '.join(TABLES)}")


def _check_inputs(jobs: list[list[str]]) -> None:
    """Refuse the sweep if an input is missing; a job with invalid settings reports it itself."""
    from elmo_bench.config.compose import run_settings
    from elmo_bench.config.errors import ConfigError
    from elmo_bench.runs.inputs import check_inputs

    but_seeds = {tuple(w for w in job if not w.startswith("seed=")): None for job in jobs}
    for overrides in but_seeds:  # seeds share their inputs
        try:
            settings = run_settings(list(overrides))
        except ConfigError:
            continue
        check_inputs(settings)


def _show_plan(jobs: list[list[str]]) -> None:
    from elmo_bench.config.compose import run_settings
    from elmo_bench.sweep.plan import plan, show_plan

    show_plan([run for job in jobs for run in plan(run_settings(job))])
