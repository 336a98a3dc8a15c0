"""The GPU of a sweep's job: jobs that run at once on one machine take one each.

Slurm and Ray show a job only the GPUs that they gave it. joblib shows it all of them and submitit's
local launcher none, so for these it is done here.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from elmo_bench.config.hydra_main import GPUS_OF_SWEEP, VISIBLE_GPUS

_TAKEN = "ELMO_BENCH_GPU"  # set in a process that has chosen, which CUDA lets it do only once
_held: list[FileLock] = []  # until the process ends


def take_gpu(launcher: Mapping[str, Any], number: int) -> None:
    """Let a job of a launcher of this machine see one GPU only, before anything uses CUDA.

    It is one that no other job has; if all are taken, the jobs share them in turn. A process that
    runs several jobs keeps the GPU of its first.

    Args:
        launcher: Hydra's launcher settings.
        number: The job's number in the sweep.
    """
    if not _leaves_the_choice(launcher) or _TAKEN in os.environ:
        return
    _show_those_of_the_sweep()
    gpus = visible_gpus()
    if gpus:
        turn = number % len(gpus)
        ordered = gpus[turn:] + gpus[:turn]
        taken = next(filter(_reserved, ordered), ordered[0])
        os.environ[VISIBLE_GPUS] = os.environ[_TAKEN] = taken


def visible_gpus() -> list[str]:
    """The names of the GPUs that this process may use, as CUDA counts them."""
    if VISIBLE_GPUS in os.environ:
        return [name for name in os.environ[VISIBLE_GPUS].split(",") if name.strip()]
    from torch.cuda import device_count  # asks the driver, and leaves CUDA uninitialized

    return [str(number) for number in range(device_count())]


def _leaves_the_choice(launcher: Mapping[str, Any]) -> bool:
    """Whether jobs of this launcher run at once on this machine, with no GPU assigned to them."""
    kind = str(launcher.get("_target_")).rpartition(".")[2]
    if kind == "JoblibLauncher":
        return launcher.get("n_jobs") != 1
    return kind == "LocalLauncher" and launcher.get("gpus_per_node") != 0


def _show_those_of_the_sweep() -> None:
    """Undo what submitit does to the GPUs of a job: it hides them, or shows the first to all."""
    before = os.environ.get(GPUS_OF_SWEEP)
    if before == "all":
        os.environ.pop(VISIBLE_GPUS, None)
    elif before is not None:
        os.environ[VISIBLE_GPUS] = before


def _reserved(gpu: str) -> bool:
    """Whether no other process of this user has the GPU; then this one has it until it ends."""
    name = f"elmo_bench-{Path.home().name}-gpu-{gpu.replace('/', '-')}.lock"
    lock = FileLock(Path(tempfile.gettempdir()) / name, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        return False
    _held.append(lock)
    return True
