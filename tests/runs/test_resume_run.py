"""Resuming a run: from an intact checkpoint of the same run, or from the beginning."""

import pytest
import torch

from elmo_bench.records.checksums import DamagedError
from elmo_bench.runs.files import LAST, RunFiles
from elmo_bench.runs.resume import load_best, outlook, resumable
from elmo_bench.training.checkpoints import SealedCheckpoints, previous, read_checkpoint

IDENTITY = {"seed": 1, "data": {"train": "abc"}}


@pytest.fixture
def files(tmp_path):
    """The files of a run after two epochs of one step."""
    found = RunFiles("0" * 8, IDENTITY, tmp_path, tmp_path / "record.json")
    written = SealedCheckpoints(IDENTITY, keep=(LAST,))
    written.save_checkpoint({"global_step": 1}, found.best)
    for epoch in range(2):
        state = {"epoch": epoch, "global_step": epoch + 1, "state": torch.ones(9)}
        written.save_checkpoint(state, found.last)
    return found


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_run_resumes_from_its_last_checkpoint(files):
    assert resumable(files, IDENTITY) == files.last
    assert outlook(files) == "the same command resumes after epoch 2"


def test_a_damaged_checkpoint_is_set_aside_and_the_one_before_is_used(files, caplog):
    flip(files.last)
    assert resumable(files, IDENTITY) == previous(files.last)
    assert f"{files.last} is damaged; it is set aside as last.ckpt.damaged" in caplog.messages
    assert not files.last.exists()


def test_without_the_best_checkpoint_a_run_starts_from_the_beginning(files):
    flip(files.best)
    assert resumable(files, IDENTITY) is None
    left = [path.name for path in files.checkpoints.iterdir()]
    assert left == ["best.ckpt.damaged"]  # the last one would not fit to a new best one
    assert outlook(files) == "nothing was saved yet, so the same command starts from the beginning"


def test_a_checkpoint_of_other_data_is_refused_with_what_differs(files):
    with pytest.raises(ValueError, match=r"another run \(data\.train was abc and is xyz\)"):
        resumable(files, {"seed": 1, "data": {"train": "xyz"}})


def test_weights_of_another_step_than_the_best_score_are_refused(files):
    assert load_best(files, 1)["global_step"] == 1
    with pytest.raises(ValueError, match=r"is of step 1, but the best dev score .* at step 3"):
        load_best(files, 3)


def test_a_cut_checkpoint_is_an_error_when_it_is_read(files):
    files.best.write_bytes(files.best.read_bytes()[:-1])
    with pytest.raises(DamagedError, match=r"best\.ckpt is damaged"):
        read_checkpoint(files.best)
