"""Writes fail at any size of a file; what is there stays good, and the same command goes on."""

import os
import random
import resource
import signal
import subprocess

import pytest
import torch

from elmo_bench.config.compose import run_settings
from elmo_bench.mini.files import ensure_mini
from elmo_bench.pretraining.stage import pretrain
from elmo_bench.runs.stage import evaluate
from tests.campaign.children import attempt
from tests.campaign.test_kills import RUN, SMALL, files_below, outcomes
from tests.conftest import paths_below
from tests.pretraining.tiny_pretraining import compose_pretraining, losses, tiny

pytestmark = pytest.mark.slow
DRAWS = random.Random(2)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)  # threads do not survive a fork


def limited(work, size):
    """The work, in a process that cannot write files larger than a size."""

    def limited_work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error instead
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        try:
            work()
        except OSError:
            os._exit(5)

    return limited_work


def fail_often(new, compare, folder, sizes, times):
    """Let work fail at growing sizes in one folder, then let it end; return how often it failed."""
    (folder / "undisturbed").mkdir()
    assert attempt(new(folder / "undisturbed"), folder / "log") == 0
    place = folder / "limited"
    place.mkdir()
    failed = 0
    for size in sorted(int(2 ** DRAWS.uniform(*sizes)) for _ in range(times)):
        status = attempt(limited(new(place), size), folder / "log")
        assert status in (0, 5), (folder / "log").read_text()[-3000:]
        failed += status == 5
    assert attempt(new(place), folder / "log") == 0, (folder / "log").read_text()[-3000:]
    compare(place)
    assert files_below(place) == files_below(folder / "undisturbed")
    return failed


def test_generating_the_benchmark(tmp_path, tally):
    def compare(place):
        one, other = (
            next(p.glob("mini-*/checksums.json")) for p in (place, tmp_path / "undisturbed")
        )
        assert one.read_text() == other.read_text()

    failed = fail_often(
        lambda place: lambda: ensure_mini(place, SMALL), compare, tmp_path, (3, 15), 10
    )
    assert failed > 3
    tally.held("failed writes while the mini benchmark is generated", failed)


def test_pretraining(tmp_path, tally):
    extra = ("pretraining.epochs=4", "trainer.checkpoint_steps=4")

    def new(place):
        settings = compose_pretraining(*tiny(place, *extra))  # writes the text
        return lambda: pretrain(settings)

    def compare(place):
        assert losses(place) == losses(tmp_path / "undisturbed")

    failed = fail_often(new, compare, tmp_path, (3, 17), 15)
    assert failed > 5
    tally.held("failed writes of a pretraining", failed)


def test_a_run(tmp_path, tally):
    def new(place):
        return lambda: evaluate(run_settings([*RUN, *paths_below(place)]))

    def compare(place):
        assert outcomes(place) == outcomes(tmp_path / "undisturbed")

    failed = fail_often(new, compare, tmp_path, (3, 21), 15)
    assert failed > 5
    tally.held("failed writes of a run", failed)


def test_a_disk_that_is_really_full(tmp_path, tally):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small file system")
    try:

        def work():
            try:
                evaluate(run_settings([*RUN, *paths_below(disk)]))
            except OSError:
                os._exit(5)

        assert attempt(work, tmp_path / "log") == 5, (tmp_path / "log").read_text()[-3000:]
        subprocess.run(["mount", "-o", "remount,size=100m", str(disk)], check=True)
        assert attempt(work, tmp_path / "log") == 0, (tmp_path / "log").read_text()[-3000:]
        assert len(outcomes(disk)) == 1
        tally.held("a full disk during a run")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
