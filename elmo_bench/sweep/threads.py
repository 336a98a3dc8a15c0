"""The number of threads per job: parallel jobs together never use more than all cores."""

from collections.abc import Mapping
from typing import Any

from elmo_bench.config.errors import ConfigError


def num_parallel_jobs(launcher: Mapping[str, Any], cores: int) -> int:
    """How many jobs a launcher runs on this machine at a time."""
    wanted = launcher.get("n_jobs")
    if wanted is None:
        return 1
    jobs = int(wanted) if wanted > 0 else max(1, cores + 1 + int(wanted))  # as joblib counts
    if jobs > cores:
        raise ConfigError(
            f"hydra.launcher.n_jobs={wanted}: must be at most the number of cores, here "
            f"{cores}; more jobs would only slow each other down"
        )
    return jobs


def threads_per_job(launcher: Mapping[str, Any], cores: int, wanted: int | None) -> int | None:
    """The threads of one job; None leaves the number to torch, which uses all cores.

    Args:
        launcher: Hydra's launcher settings: `n_jobs` of joblib, `cpus_per_task` of the others.
        cores: Cores of this machine.
        wanted: The config's trainer.threads.
    """
    allotted = launcher.get("cpus_per_task")
    if launcher.get("n_jobs") is not None:
        allotted = max(1, cores // num_parallel_jobs(launcher, cores))
    if allotted is None:
        return wanted
    return int(allotted) if wanted is None else min(wanted, int(allotted))
