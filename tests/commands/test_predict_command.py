import io

from elmo_bench.cli import main
from elmo_bench.config.compose import task_settings
from elmo_bench.config.locating import build_task
from elmo_bench.runs import predict


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
