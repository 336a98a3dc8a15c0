"""The same command gives the same record, digit for digit, whoever filled the cache before."""

from pathlib import Path

import pytest

from elmo_bench.config.compose import run_settings
from elmo_bench.config.folders import options
from elmo_bench.runs.stage import evaluate
from tests.campaign.test_kills import outcomes
from tests.conftest import TINY, paths_below

pytestmark = pytest.mark.slow


def record(folder: Path, *overrides: str) -> list:
    evaluate(run_settings([*TINY, "baseline=skip", *paths_below(folder), *overrides]))
    return outcomes(folder)


@pytest.mark.parametrize("arm", ["none", "paper"])
@pytest.mark.parametrize("task", options("task"))
def test_the_same_command_gives_the_same_record(task, arm, tmp_path, tally):
    first = record(tmp_path / "a", f"task={task}", f"elmo={arm}")
    assert record(tmp_path / "b", f"task={task}", f"elmo={arm}") == first
    tally.held("records that came out the same again, of all tasks and arms")


@pytest.mark.parametrize("task", options("task"))
def test_also_after_another_run_has_filled_the_cache(task, tmp_path, tally):
    first = record(tmp_path / "a", f"task={task}", "elmo=paper")
    # Fewer training examples: a part of the segments is computed in other batches.
    cache = f"paths.cache={tmp_path / 'shared'}"
    record(tmp_path / "c", f"task={task}", "elmo=paper", "data.train_fraction=0.4", cache)
    assert record(tmp_path / "d", f"task={task}", "elmo=paper", cache) == first
    tally.held("records that came out the same after another run filled the cache")
