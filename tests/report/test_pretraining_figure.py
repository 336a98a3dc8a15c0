"""`elmo-bench plot pretraining`."""

import json

import pytest

from elmo_bench.cli import main
from elmo_bench.report.figures.pretraining import draw


def measured(**means):
    return {part: {"forward": m, "backward": m, "mean": m} for part, m in means.items()}


def test_a_line_per_held_out_text_over_the_tokens_read():
    history = [(1e6, measured(news=200.0, novels=90.0)), (2e6, measured(news=150.0, novels=80.0))]
    left, right = draw("tiny", [(1e6, 5.0), (2e6, 4.5)], history).axes
    [loss] = left.lines
    assert loss.get_xydata().tolist() == [[1, 5], [2, 4.5]]
    assert {line.get_label(): line.get_xydata().tolist() for line in right.lines} == {
        "news": [[1, 200], [2, 150]],
        "novels": [[1, 90], [2, 80]],
    }


def test_a_part_that_was_not_measured_at_first_has_a_shorter_line():
    history = [(1e6, measured(news=200.0)), (2e6, measured(news=150.0, novels=80.0))]
    _, right = draw("tiny", [], history).axes
    assert [len(line.get_xdata()) for line in right.lines] == [2, 1]


def test_the_command_reads_the_folder_of_a_bilm(tmp_path, capsys):
    record = {
        "steps": 10,
        "tokens": 640,
        "history": [{"step": 10, "perplexity": measured(news=150.0)}],
        "losses": [[5, 6.0], [10, 5.5]],
    }
    (tmp_path / "training.json").write_text(json.dumps(record))
    assert main(["plot", "pretraining", str(tmp_path), "-o", str(tmp_path / "curves.svg")]) == 0
    assert "<svg" in (tmp_path / "curves.svg").read_text()
    assert "curves.svg" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["{}", '{"history": [{"step": 1}]}', None])
def test_a_folder_without_a_history_is_an_error_of_one_line(content, tmp_path, capsys):
    if content is not None:
        (tmp_path / "training.json").write_text(content)
    assert main(["plot", "pretraining", str(tmp_path), "-o", str(tmp_path / "x.png")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "x.png").exists()


def test_without_a_folder_the_error_says_how_to_name_it(capsys):
    assert main(["plot", "pretraining"]) == 2
    assert "elmo-bench plot pretraining results/bilm/mini" in capsys.readouterr().err
