"""Batches read ahead by a thread, so that reading and spelling overlap with a GPU's work."""

from collections.abc import Iterator
from queue import Queue
from threading import Event, Thread
from typing import Any

import torch

_AHEAD = 2  # batches


class Prefetched:
    """Another loader's batches, read ahead; in page-locked memory if they go to CUDA.

    Its state, if the loader has one, is that after the last batch that was given out, not after
    the last one that was read.

    Args:
        loader: An iterable with a length; `state_dict` and `load_state_dict` are optional.
        device: Where the batches go.
    """

    def __init__(self, loader: Any, device: torch.device) -> None:
        self.loader, self.device = loader, device
        self._state = self._loader_state()

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        queue: Queue[tuple[str, Any, Any]] = Queue(_AHEAD)
        stop = Event()
        thread = Thread(target=self._read, args=(queue, stop), daemon=True)
        thread.start()
        try:
            while True:
                kind, value, state = queue.get()
                if kind == "error":
                    raise value
                if kind == "end":
                    return
                self._state = state
                yield value
        finally:
            stop.set()
            while thread.is_alive():
                while not queue.empty():
                    queue.get_nowait()  # the thread may wait for a place
                thread.join(0.01)

    def state_dict(self) -> dict[str, Any]:
        """The loader's position after the last batch that was given out."""
        return dict(self._state)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Return to a position."""
        if hasattr(self.loader, "load_state_dict"):
            self.loader.load_state_dict(state)
            self._state = self._loader_state()

    def _read(self, queue: "Queue[tuple[str, Any, Any]]", stop: Event) -> None:
        try:
            for batch in self.loader:
                queue.put(("batch", self._pinned(batch), self._loader_state()))
                if stop.is_set():
                    return
            queue.put(("end", None, None))
        except BaseException as error:
            queue.put(("error", error, None))

    def _pinned(self, batch: Any) -> Any:
        if self.device.type != "cuda":
            return batch
        return torch.utils.data._utils.pin_memory.pin_memory(batch)

    def _loader_state(self) -> dict[str, Any]:
        return self.loader.state_dict() if hasattr(self.loader, "state_dict") else {}


def prefetched(loader: Any, device: torch.device) -> Any:
    """The loader, read ahead if its batches go to a GPU; the CPU has no time to spare."""
    return loader if device.type == "cpu" else Prefetched(loader, device)
