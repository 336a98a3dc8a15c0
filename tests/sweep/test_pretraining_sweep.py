import re
import runpy
import sys

import pytest

from tests.conftest import PROJECT, paths_below


@pytest.mark.parametrize("several", ["trainer.devices=2", "trainer.num_nodes=4"])
def test_a_sweep_of_trainings_on_several_devices_is_refused(tmp_path, monkeypatch, capsys, several):
    paths = [path for path in paths_below(tmp_path) if "results" not in path]
    argv = ["pretrain.py", "-m", "pretraining.seed=1,2", several, *paths]
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.chdir(PROJECT)
    with pytest.raises(SystemExit) as stop:
        runpy.run_path("pretrain.py", run_name="__main__")
    assert stop.value.code == 2
    assert re.search(f"{several} in a sweep.*the whole sweep", capsys.readouterr().err)
    assert not (tmp_path / "bilm").exists()
