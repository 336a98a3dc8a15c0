import pytest

from elmo_bench.config.checks import check
from elmo_bench.config.compose import ConfigError, compose, task_names
from elmo_bench.records.run import read_records
from elmo_bench.runs.stage import run
from tests.conftest import TINY, paths_below


def config(folder, *words: str):
    tiny = [word for word in TINY if not word.startswith("words.")]
    return compose("run", [*tiny, *paths_below(folder), "words=none", *words])


@pytest.mark.parametrize("task", task_names())
def test_every_task_runs_on_elmo_alone_and_has_no_baseline_then(task, tmp_path, shared_cache):
    cfg = config(tmp_path, f"task={task}")
    cfg.paths.cache = str(shared_cache)
    run(cfg)
    [record] = read_records(tmp_path / "results")
    assert (record.words, record.elmo) == ("none", "paper")


def test_a_model_that_would_read_nothing_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="nothing to read"):
        check(config(tmp_path, "task=ner", "elmo=none"))
