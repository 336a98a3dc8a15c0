import runpy
import sys

import pytest

from elmo_bench.pretraining.stage import pretrain
from elmo_bench.records.run import read_records
from tests.conftest import PROJECT, TINY, paths_below
from tests.pretraining.tiny_pretraining import TINY as TINY_BILM
from tests.pretraining.tiny_pretraining import compose_pretraining
from tests.sweep.test_experiments import SWEEPS


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Folders with a tiny biLM that was trained on a small mini corpus."""
    folder = tmp_path_factory.mktemp("overlays")
    sizes = [word for word in TINY_BILM if not word.startswith("corpus")]
    words = ("corpus.corpus_tokens=4000", "corpus.heldout_tokens=500", *sizes)
    own = [path for path in paths_below(folder) if "results" not in path]
    pretrain(compose_pretraining("corpus=mini", *words, *own))
    return own


@pytest.mark.slow
@pytest.mark.parametrize("experiment", SWEEPS)
def test_an_overlay_runs_to_the_end(experiment, paths, tmp_path, monkeypatch, capsys):
    settings = [word for word in TINY if not word.startswith(("bilm.", "words."))]
    results = f"paths.results={tmp_path}"
    argv = ["run.py", f"experiment={experiment}", "seed=1", *settings, *paths, results]
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.chdir(PROJECT)
    with pytest.raises(SystemExit) as stop:
        runpy.run_path("run.py", run_name="__main__")
    shown = capsys.readouterr().out
    assert stop.value.code == 0, shown
    records = read_records(tmp_path)
    assert records and all(record.scores["test"] for record in records)
