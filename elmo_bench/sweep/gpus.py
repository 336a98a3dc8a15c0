"""The GPU of a sweep's job: jobs that run at once on one machine take one each.

Slurm (submitit) and Ray show a job only the GPUs they gave it; joblib does not, so it is done here.
"""

import os
from collections.abc import Mapping
from typing import Any

VISIBLE = "CUDA_VISIBLE_DEVICES"
_TAKEN = "ELMO_BENCH_GPU"  # set in a process that has chosen, which CUDA lets it do only once


def take_gpu(launcher: Mapping[str, Any], number: int) -> None:
    """Let a job of the joblib launcher see one GPU only, before anything uses CUDA.

    joblib's processes run many jobs. Each keeps the GPU of its first job, and the first jobs of all
    processes have consecutive numbers, so no two processes share a GPU while there are enough.
    """
    if launcher.get("n_jobs") in (None, 1) or _TAKEN in os.environ:
        return
    gpus = visible_gpus()
    if len(gpus) > 1:
        os.environ[VISIBLE] = os.environ[_TAKEN] = gpus[number % len(gpus)]


def visible_gpus() -> list[str]:
    """The names of the GPUs that this process may use, as CUDA counts them."""
    if VISIBLE in os.environ:
        return [name for name in os.environ[VISIBLE].split(",") if name.strip()]
    from torch.cuda import device_count  # asks the driver, and leaves CUDA uninitialized

    return [str(number) for number in range(device_count())]
