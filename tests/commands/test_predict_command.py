import io

import pytest

from elmo_bench.cli import main
from elmo_bench.config.compose import task_settings
from elmo_bench.config.locating import build_task
from elmo_bench.errors import UserError
from elmo_bench.runs import predict
from elmo_bench.runs.files import FINISHED, find_run


class Terminal(io.StringIO):
    """Standard input that nobody types into."""

    def isatty(self):
        return True


def test_a_terminal_is_shown_what_to_type(tmp_path, monkeypatch, capsys):
    class Untrained(predict.Predictor):
        def __init__(self, folder, device):
            self.task = build_task(task_settings("snli").build)

    (tmp_path / "finished").touch()
    monkeypatch.setattr(predict, "Predictor", Untrained)
    monkeypatch.setattr("sys.stdin", Terminal())
    assert main(["predict", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "such as: A man sleeps . ||| A person is awake ." in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("name", ["ner-paper", "ner-paper-s1-0e106cb1", "0e106cb1", "0e10"])
def test_a_run_is_found_by_how_its_name_or_hash_begins(tmp_path, name):
    for run in ("ner-none-s1-3c5ee12b", "ner-paper-s1-0e106cb1"):
        (tmp_path / "runs" / run).mkdir(parents=True)
        (tmp_path / "runs" / run / FINISHED).touch()
    assert find_run(name, tmp_path).name == "ner-paper-s1-0e106cb1"
    with pytest.raises(UserError, match="several runs are called 'ner'"):
        find_run("ner", tmp_path)
