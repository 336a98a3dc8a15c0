import threading

import pytest
import torch

from elmo_bench.training.prefetch import Prefetched, prefetched

GPU = torch.device("meta")  # any device but the CPU


class Counting:
    """Gives the numbers up to 10, and can fail."""

    def __init__(self, fails_at=None):
        self.given, self.fails_at = 0, fails_at

    def __len__(self):
        return 10 - self.given

    def __iter__(self):
        while self.given < 10:
            if self.given == self.fails_at:
                raise OSError("the disk is gone")
            self.given += 1
            yield self.given

    def state_dict(self):
        return {"given": self.given}

    def load_state_dict(self, state):
        self.given = state["given"]


def test_all_batches_come_in_order():
    assert list(Prefetched(Counting(), GPU)) == list(range(1, 11))


def test_the_state_is_that_after_the_last_batch_given_out():
    loader = Prefetched(Counting(), GPU)
    batches = iter(loader)
    assert [next(batches), next(batches), next(batches)] == [1, 2, 3]
    state = loader.state_dict()
    batches.close()
    resumed = Prefetched(Counting(), GPU)
    resumed.load_state_dict(state)
    assert next(iter(resumed)) == 4


def test_an_error_of_the_loader_reaches_the_reader_after_the_batches_before_it():
    found = []
    with pytest.raises(OSError, match="the disk is gone"):
        for batch in Prefetched(Counting(fails_at=3), GPU):
            found.append(batch)
    assert found == [1, 2, 3]


def test_no_thread_is_left_when_the_reader_stops_early():
    before = threading.active_count()
    batches = iter(Prefetched(Counting(), GPU))
    next(batches)
    batches.close()
    assert threading.active_count() == before


def test_batches_for_the_cpu_are_not_read_ahead():
    loader = Counting()
    assert prefetched(loader, torch.device("cpu")) is loader
