"""Training losses, left on the device until they are read: each reading waits for it."""

from math import isfinite

import torch
import torch.distributed
from jaxtyping import Float
from torch import Tensor

READ_EVERY = 10  # steps between two readings, if nothing asks for the losses before


class DivergedError(RuntimeError):
    """The loss or a weight is no longer finite."""


class UnreadLosses:
    """The losses of the last steps."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._losses: list[Tensor] = []

    def __len__(self) -> int:
        return len(self._losses)

    def add(self, number: int, loss: Float[Tensor, ""]) -> None:
        """Keep the loss of a step; `number` is for the error message."""
        self._numbers.append(number)
        self._losses.append(loss.detach())

    def read(self) -> list[float]:
        """The mean losses of all processes, which must all call this; raises if one diverged."""
        if not self._losses:
            return []
        losses = torch.stack(self._losses)
        if torch.distributed.is_initialized():
            torch.distributed.all_reduce(losses)
            losses = losses / torch.distributed.get_world_size()
        values: list[float] = losses.tolist()
        for number, value in zip(self._numbers, values, strict=True):
            if not isfinite(value):
                raise DivergedError(f"The loss of step {number} is {value}.")
        self._numbers, self._losses = [], []
        return values
