"""What a result may depend on besides its settings: versions, machine, device, threads, commit."""

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "torch",
    "pytorch-lightning",
    "hydra-core",
    "datasets",
    "seqeval",
    "wandb",
    "numpy",
    "transformers",  # None where it is not installed
)


def environment(device: object = None) -> dict[str, Any]:
    """Versions of Python and packages, the machine, what computes, and the commit of the checkout.

    Args:
        device: The torch.device that was used, if any.
    """
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor_name(),
        "processors": os.cpu_count(),
        "commit": _git_commit(),
        "packages": {name: _package_version(name) for name in PACKAGES},
        **_torch_environment(device),
    }


def _torch_environment(device: object) -> dict[str, Any]:
    """Threads, vector instructions and device; empty where torch is not loaded, as in a report."""
    torch: Any = sys.modules.get("torch")  # not imported: it takes seconds
    if torch is None:
        return {}
    found = {"threads": torch.get_num_threads()}
    found["instructions"] = torch.backends.cpu.get_cpu_capability()
    if device is not None:
        kind = torch.device(device).type
        found["device"] = torch.cuda.get_device_name(device) if kind == "cuda" else kind
    return found


def _processor_name() -> str:
    """The model of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _package_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _git_commit() -> str | None:
    """The checkout's commit, with a + when files differ from it."""
    root = Path(__file__).parents[2]
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip()
