"""Atomic writes: the old file or the new one, and nothing of those that were killed."""

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from elmo_bench.errors import explanation
from elmo_bench.records.atomic import (
    naming,
    remove_leftovers,
    replace_file,
    replace_folder,
    write_text,
)
from elmo_bench.records.checksums import DamagedError, check_file, find_damage, write_checksums


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    write_text(path, "old")
    with pytest.raises(OSError, match="full"), replace_file(path) as unfinished:
        unfinished.write_text("half")
        raise OSError("the disk is full")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_replaced_file_can_be_kept(tmp_path):
    path, kept = tmp_path / "file", tmp_path / "kept"
    for text in ("one", "two", "three"):
        with replace_file(path, keep=kept) as unfinished:
            unfinished.write_text(text)
    assert (path.read_text(), kept.read_text()) == ("three", "two")


def test_a_replaced_folder_is_the_new_one(tmp_path):
    folder = tmp_path / "folder"
    for name in ("one", "two"):
        with replace_folder(folder) as unfinished:
            write_text(unfinished / name, name)
    assert [path.name for path in folder.iterdir()] == ["two"]
    assert list(tmp_path.iterdir()) == [folder]


def test_leftovers_of_dead_processes_are_removed_and_those_of_others_kept(tmp_path):
    host = socket.gethostname()
    dead = tmp_path / f".x.{host}@{dead_process()}-0.unfinished"
    alive = tmp_path / f".x.{host}@{os.getpid()}-0.unfinished"
    elsewhere = tmp_path / ".x.other@1-0.unfinished"
    long_ago = tmp_path / ".x.other@1-1.unfinished"
    for path in (dead, alive, elsewhere, long_ago):
        path.write_text("half")
    os.utime(long_ago, (0, 0))
    remove_leftovers(tmp_path, tmp_path / "missing")
    assert set(tmp_path.iterdir()) == {alive, elsewhere}


def test_a_file_is_compared_with_the_checksums_beside_it(tmp_path):
    (tmp_path / "a").write_text("a")
    check_file(tmp_path / "a", "copy it again")  # there are none yet
    write_checksums(tmp_path)
    assert find_damage(tmp_path) is None
    (tmp_path / "a").write_text("b")
    assert str(tmp_path / "a") in str(find_damage(tmp_path))
    with pytest.raises(DamagedError, match="copy it again"):
        check_file(tmp_path / "a", "copy it again")


@pytest.mark.parametrize("replace", [replace_file, replace_folder])
@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        RuntimeError("Error while serializing: I/O error: No space left (os error 28)"),
    ],
)
def test_a_full_disk_names_what_was_to_be_written_and_what_to_do(tmp_path, replace, error):
    with pytest.raises(OSError) as caught, replace(tmp_path / "last.ckpt"):
        raise error
    line = explanation(caught.value)
    assert line.startswith(f"{tmp_path / 'last.ckpt'}: No space left on device; free some space")
    assert "the command, which continues where it stopped" in line
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_really_full_is_named():
    """Writing to /dev/full fails as a full disk does."""
    if not Path("/dev/full").exists():
        pytest.skip("needs Linux")
    with pytest.raises(OSError) as caught, naming(Path("record.json")):
        Path("/dev/full").write_text("x")
    assert caught.value.filename == "record.json"
