"""`elmo-bench show` on runs made here, and on records without the newer fields."""

import json
import shutil

import pytest

from elmo_bench.cli import main
from elmo_bench.records.run import read_record
from elmo_bench.report import find_record
from elmo_bench.runs.stage import run
from tests.conftest import PROJECT

REFERENCE = PROJECT / "results" / "reference" / "runs"


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Where the command looks for the user's records; there are no others."""
    monkeypatch.setattr(find_record, "RUNS", tmp_path / "results")
    monkeypatch.setattr(find_record, "REFERENCE", tmp_path / "none")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "results"


def test_a_run_is_shown_with_its_labels_curves_and_header(tiny_run, folder, capsys, caplog):
    caplog.set_level("INFO", "elmo_bench")
    run(tiny_run("task=ner", "task.training.max_epochs=3"))
    text = "\n".join(caplog.messages)
    assert "ner on mini, seed 1" in text and "device" in text and "== baseline: ner-none" in text
    assert "48 train, 16 dev, 16 test examples" in text and "to compute" in text
    assert [m.startswith("epoch") for m in caplog.messages].count(True) == 6
    capsys.readouterr()
    assert main(["show", "ner-paper"]) == 0
    shown = capsys.readouterr().out
    for part in ("Test scores by label", "Confusions on the test split", "dev f1 over training"):
        assert part in shown
    assert "task.training.max_epochs=3" in shown and "layer 2" in shown and "Time: " in shown
    assert max(map(len, (x for x in shown.splitlines() if "run.py" not in x))) <= 80
    assert "gain" in shown
    # A baseline is not compared with itself.
    assert main(["show", "ner-none"]) == 0
    assert "gain" not in capsys.readouterr().out


def test_the_confusions_in_a_record_add_up_to_its_score(tiny_run):
    from elmo_bench.runs.stage import evaluate

    record = evaluate(tiny_run("task=sst5", "elmo=none", "task.training.max_epochs=3"))
    counts = [(g == p, n) for g, row in record.confusion.items() for p, n in row.items()]
    right, total = sum(n for same, n in counts if same), sum(n for _, n in counts)
    assert 100 * right / total == pytest.approx(record.scores["test"]["accuracy"])
    assert read_record(record.file or _path(tiny_run)).labels == record.labels


def _path(tiny_run):
    from elmo_bench.runs.files import RunFiles

    return RunFiles.of(tiny_run("task=sst5", "elmo=none", "task.training.max_epochs=3")).record


def test_an_older_record_is_shown_without_labels(folder, capsys):
    folder.mkdir()
    source = next(REFERENCE.glob("squad-paper-s1-*.json"))
    content = json.loads(source.read_text(encoding="utf-8"))
    for field in ("labels", "confusion", "kinds", "checksum"):
        content.pop(field, None)
    content["data"] = "[red]\x1b[31mwiki"
    (folder / source.name).write_text(json.dumps(content), encoding="utf-8")
    assert main(["show", source.name]) == 0
    shown = capsys.readouterr().out
    assert "by label" not in shown and "[red]\\x1b[31mwiki" in shown and "\x1b[31m" not in shown


def test_a_name_of_several_runs_or_of_none_is_an_error(folder, capsys):
    folder.mkdir()
    for source in sorted(REFERENCE.glob("squad-none-*.json"))[:2]:
        shutil.copy(source, folder)
    assert main(["show", "squad"]) == 2
    assert "several runs" in capsys.readouterr().err
    assert main(["show", "nothing"]) == 2
    assert "no run begins with 'nothing'. The runs are: squad-none" in capsys.readouterr().err
