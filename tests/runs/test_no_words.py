import pytest

from elmo_bench.config.compose import run_settings, task_names
from elmo_bench.config.errors import ConfigError
from elmo_bench.records.run import read_records
from elmo_bench.runs.stage import run
from tests.conftest import TINY, paths_below


def settings(folder, *words: str):
    tiny = [word for word in TINY if not word.startswith("words.")]
    return run_settings([*tiny, *paths_below(folder), "words=none", *words])


@pytest.mark.parametrize("task", task_names())
def test_every_task_runs_on_elmo_alone_and_then_has_no_baseline(task, tmp_path, shared_cache):
    run(settings(tmp_path, f"task={task}", f"paths.cache={shared_cache}"))
    [record] = read_records(tmp_path / "results")
    assert (record.words, record.elmo) == ("none", "paper")


def test_a_model_that_would_read_nothing_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="nothing to read"):
        settings(tmp_path, "task=ner", "elmo=none")
