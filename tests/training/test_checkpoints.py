import errno
import io
import tracemalloc
from pathlib import Path

import pytest
import torch

from elmo_bench.training.checkpoints import SealedCheckpoints, is_intact, read_checkpoint

WEIGHTS = torch.arange(2_000_000.0)  # 8 MB
CHECKPOINTS = SealedCheckpoints({"seed": 1}, keep=())


def test_a_checkpoint_is_written_without_a_copy_in_memory(tmp_path):
    path = tmp_path / "last.ckpt"
    tracemalloc.start()
    CHECKPOINTS.save_checkpoint({"weights": WEIGHTS}, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000
    assert is_intact(path)
    found = read_checkpoint(path)
    assert found["weights"].equal(WEIGHTS) and found["identity"] == {"seed": 1}


def test_the_reason_of_a_failed_write_is_reported_and_nothing_is_left(tmp_path, monkeypatch):
    class FullDisk(io.FileIO):
        def write(self, piece):
            if self.tell() + len(piece) > 1_000_000:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(piece)

    monkeypatch.setattr(Path, "open", lambda self, mode: FullDisk(self, mode))
    with pytest.raises(OSError, match="No space left on device"):
        CHECKPOINTS.save_checkpoint({"weights": WEIGHTS}, tmp_path / "last.ckpt")
    assert list(tmp_path.iterdir()) == []
