"""`hydra/launcher=ray`: the jobs of a sweep on a Ray cluster.

It is here because Hydra finds launchers only in the namespace package hydra_plugins.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, configure_log, run_job, setup_globals
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict


class RayLauncher(Launcher):
    """Runs every job as one Ray task.

    Args:
        address: Of a running cluster; "local" starts one on this machine for the sweep, "auto"
            finds the one that was started here with `ray start`.
        cpus_per_task: CPU cores of a job, which is also its number of threads.
        gpus_per_task: GPUs of a job; a fraction lets jobs share one. None is one, or none in a
            cluster without GPUs.
        max_retries: How often a job is restarted if its node or process is lost.
        num_cpus: CPU cores of a "local" cluster; None takes all.
        num_gpus: GPUs of a "local" cluster; None takes all.
        quiet: Keep the output of jobs off this terminal.
    """

    def __init__(
        self,
        address: str,
        cpus_per_task: int,
        gpus_per_task: float | None,
        max_retries: int,
        num_cpus: int | None,
        num_gpus: int | None,
        quiet: bool,
    ) -> None:
        self.address, self.quiet = address, quiet
        self.local = {"num_cpus": num_cpus, "num_gpus": num_gpus, "include_dashboard": False}
        self.gpus_per_task = gpus_per_task
        self.resources = {"num_cpus": cpus_per_task, "max_retries": max_retries}

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Store what Hydra passes before the sweep."""
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Run the jobs and wait for all of them."""
        try:
            import ray
        except ModuleNotFoundError as error:
            raise SystemExit("hydra/launcher=ray needs Ray: pip install -e '.[ray]'") from error
        setup_globals()
        configure_log(self.config.hydra.hydra_logging, self.config.hydra.verbose)
        Path(str(self.config.hydra.sweep.dir)).mkdir(parents=True, exist_ok=True)
        ray.init(
            address=self.address,
            log_to_driver=not self.quiet,
            # Jobs import the project and find conf/ and results/ as this process does.
            runtime_env={"env_vars": {"PYTHONPATH": _import_path()}},
            **(self.local if self.address == "local" else {}),
        )
        try:
            gpus = self.gpus_per_task
            if gpus is None:
                gpus = min(1, ray.cluster_resources().get("GPU", 0))
            run = ray.remote(num_gpus=gpus, **self.resources)(_run)
            state = ray.put((self.hydra_context, self.config, self.task_function, _singletons()))
            jobs = enumerate(job_overrides, start=initial_job_idx)
            return ray.get([run.remote(number, list(words), state) for number, words in jobs])
        finally:
            ray.shutdown()


def _import_path() -> str:
    return os.pathsep.join([str(Path.cwd()), *filter(None, [os.environ.get("PYTHONPATH")])])


def _singletons() -> dict[Any, Any]:
    state: dict[Any, Any] = Singleton.get_state()
    return state


def _run(number: int, overrides: list[str], state: tuple[Any, ...]) -> JobReturn:
    """Run one job in a process of the cluster."""
    hydra_context, config, task_function, singletons = state
    setup_globals()
    Singleton.set_state(singletons)
    sweep_config = hydra_context.config_loader.load_sweep_config(config, overrides)
    with open_dict(sweep_config):
        sweep_config.hydra.job.id = f"{sweep_config.hydra.job.name}_{number}"
        sweep_config.hydra.job.num = number
    return run_job(
        hydra_context=hydra_context,
        config=sweep_config,
        task_function=task_function,
        job_dir_key="hydra.sweep.dir",
        job_subdir_key="hydra.sweep.subdir",
    )
