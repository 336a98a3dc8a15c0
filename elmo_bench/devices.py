"""Devices: which one a name means, copies that do not wait, random states, precision of products.

All that depends on the kind of a device is here; the rest of the code takes any.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from elmo_bench.errors import UserError

ACCELERATORS = ("auto", "cpu", "gpu", "cuda", "mps")


def resolve_device(name: str) -> torch.device:
    """The device that `trainer.accelerator` or `--device` names; auto is a GPU if there is one.

    Besides the accelerators, any name that torch knows is good, such as cuda:1.
    """
    if name in ("auto", "gpu"):
        found = torch.accelerator.current_accelerator(check_available=True)
        if found is None and name == "gpu":
            raise UserError("the device gpu was asked for, but torch finds none; use cpu or auto.")
        return torch.device("cpu") if found is None else found
    if name == "tpu":
        return torch.device("cpu")  # Lightning trains on it; the biLM of a run has no path to it
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(
            f"the device {name} cannot be used here: {reason} Use cpu, auto, or one that exists."
        ) from error
    return device


def to_device(values: np.ndarray | Tensor, device: torch.device) -> Tensor:
    """Copy values from CPU memory without waiting for what the device still computes."""
    tensor = torch.from_numpy(values) if isinstance(values, np.ndarray) else values
    if device.type == "cpu":
        return tensor
    if device.type == "cuda":
        tensor = tensor.pin_memory()  # otherwise the copy waits after all
    # MPS reads the source later, when it may be gone.
    return tensor.to(device, non_blocking=device.type != "mps")


def free_memory(device: torch.device) -> int:
    """Bytes that are free on a GPU; a guess for kinds that do not tell."""
    if device.type == "cuda":
        free: int = torch.cuda.mem_get_info(device)[0]
        # What torch has freed but keeps for later is not free for the driver.
        return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return 1 << 31


def widest_float(device: torch.device) -> torch.dtype:
    """The type for sums that lose much in float32; MPS has no other."""
    return torch.float32 if device.type == "mps" else torch.float64


def random_state(device: torch.device) -> dict[str, Tensor]:
    """The state of the CPU's random generator and of the device's, by kind of device."""
    states = {"cpu": torch.get_rng_state()}
    if device.type != "cpu":
        states[device.type] = _module(device).get_rng_state()
    return states


def set_random_state(states: dict[str, Tensor], device: torch.device) -> None:
    """Return to a state; a run that moves to another kind of device draws anew there."""
    torch.set_rng_state(states["cpu"].cpu())
    if device.type in states and device.type != "cpu":
        _module(device).set_rng_state(states[device.type].cpu())


def set_matmul_precision(precision: str | None, device: torch.device) -> None:
    """Let float32 products of a GPU use its faster, coarser units; "highest" forbids it.

    Args:
        precision: highest, high (TF32) or medium (bfloat16); None is high on a GPU. The CPU always
            computes in float32.
        device: Where the products run.
    """
    if device.type != "cpu":
        torch.set_float32_matmul_precision(precision or "high")


def _module(device: torch.device) -> Any:
    """torch.cuda, torch.mps and so on."""
    return torch.get_device_module(device)
