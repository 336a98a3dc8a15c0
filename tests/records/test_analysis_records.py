import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from elmo_bench.records.analysis import Analysis, data_name, read_analyses, write_analysis
from elmo_bench.records.digest import file_identity

MADE = Analysis(
    analysis="pos",
    bilm="mini",
    fingerprint="f00d",
    data="mini",
    settings={"seed": 1},
    metric="accuracy",
    layers=[{"accuracy": 80.0}, {"accuracy": 90.0}],
    baselines={"most frequent tag": {"accuracy": 70.0}},
)


def test_an_analysis_is_read_as_it_was_written(tmp_path):
    write_analysis(MADE, tmp_path)
    assert read_analyses(tmp_path) == [MADE]


def test_repeating_an_analysis_replaces_its_record(tmp_path):
    write_analysis(MADE, tmp_path)
    write_analysis(replace(MADE, seconds={"probe": 3.0}), tmp_path)
    assert [analysis.seconds for analysis in read_analyses(tmp_path)] == [{"probe": 3.0}]


def test_other_settings_make_another_analysis(tmp_path):
    write_analysis(MADE, tmp_path)
    write_analysis(replace(MADE, settings={"seed": 2}), tmp_path)
    assert len(read_analyses(tmp_path)) == 2


def test_a_damaged_file_is_skipped_and_named(tmp_path, caplog):
    write_analysis(MADE, tmp_path)
    (tmp_path / "cut.json").write_text('{"analysis": ', encoding="utf-8")
    assert read_analyses(tmp_path) == [MADE]
    assert "cut.json" in caplog.text


def test_a_file_is_identified_by_name_and_content_but_not_folder(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "text.txt").write_text("a b\n", encoding="utf-8")
    assert file_identity(tmp_path / "one/text.txt") == file_identity(tmp_path / "two/text.txt")


def test_results_are_read_without_torch():
    code = (
        "import sys, elmo_bench.analysis as a; a.read_analyses; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_data_is_named_after_its_file_or_else_its_folder():
    assert data_name(Path("wsd/coarsewsd20.train.jsonl.gz")) == "coarsewsd20"
    assert data_name(Path("somewhere/mine/train.jsonl")) == "mine"
