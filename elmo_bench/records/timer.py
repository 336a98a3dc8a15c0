"""A timer for the stages of a run."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class StageTimer:
    """Seconds by stage, added up: `with timer("features"): ...`."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
