"""Two functions at once, each on half of the cores: fewer, larger pieces of work per core."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

import torch

First = TypeVar("First")
Second = TypeVar("Second")


class TwoThreads:
    """A context manager that, called with two functions, runs both and returns both results.

    They run in two threads with half of the cores each. With a single core, or if `threaded` is
    false (a GPU needs no threads), they run one after the other.
    """

    def __init__(self, threaded: bool = True) -> None:
        self.num_threads = torch.get_num_threads()
        self.pool = ThreadPoolExecutor(1) if threaded and self.num_threads > 1 else None

    def __enter__(self) -> "TwoThreads":
        if self.pool is not None:
            torch.set_num_threads(self.num_threads // 2)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.pool is not None:
            self.pool.shutdown()
            torch.set_num_threads(self.num_threads)

    def __call__(
        self, first: Callable[[], First], second: Callable[[], Second]
    ) -> tuple[First, Second]:
        """Call both; an error in either is raised."""
        if self.pool is None:
            return first(), second()
        grad = torch.is_grad_enabled()  # a per-thread setting
        future = self.pool.submit(_with_grad, grad, second)
        return first(), future.result()


def _with_grad(enabled: bool, function: Callable[[], Second]) -> Second:
    with torch.set_grad_enabled(enabled):
        return function()
