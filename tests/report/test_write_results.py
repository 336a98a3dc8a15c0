import re
import shutil
import subprocess
from pathlib import Path

import matplotlib as mpl
import pytest

from elmo_bench.records.run import write_record
from elmo_bench.report.write_results import write_results
from tests.conftest import PROJECT
from tests.report.synthetic_records import MINILM, open_record, record

RESULTS = PROJECT / "results/reference"
MADE = "generated from results/reference/runs; run `make report` and commit the changes"


def in_git(*folders: str) -> list[Path]:
    """The committed files of some folders of results/reference."""
    names = [f"results/reference/{folder}" for folder in folders]
    listed = subprocess.run(
        ["git", "ls-files", *names], cwd=PROJECT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [PROJECT / name for name in listed.stdout.splitlines()]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    target = tmp_path_factory.mktemp("results") / "reference"
    records = in_git("runs", "analysis")
    if not records:
        pytest.skip("no records are committed yet")
    for path in records:
        copy = target / path.relative_to(RESULTS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return target, write_results(target, target)


@pytest.mark.parametrize("kind", ["tables", "figures"])
def test_the_stored_files_are_up_to_date_with_the_stored_runs(kind, fresh):
    target, written = fresh
    stored = {str(path.relative_to(RESULTS)): path for path in in_git(kind)}
    made = {str(path.relative_to(target)) for path in written}
    assert set(stored) == {name for name in made if name.startswith(kind)}, MADE
    for name, path in stored.items():
        text = path.read_text(encoding="utf-8")
        drawn_by = re.search(r"Matplotlib v([\d.]+)", text)
        if drawn_by and drawn_by.group(1) != mpl.__version__:
            pytest.skip(f"drawn by matplotlib {drawn_by.group(1)}, this is {mpl.__version__}")
        assert text == (target / name).read_text(encoding="utf-8"), f"{path} is {MADE}"


def test_without_runs_tables_say_what_to_run_and_there_are_no_figures(tmp_path):
    written = write_results(tmp_path, tmp_path)
    assert {path.suffix for path in written} == {".md"}
    assert "python run.py task=ner" in (tmp_path / "tables" / "mini" / "main.md").read_text()


def test_an_old_figure_without_runs_is_removed(tmp_path):
    old = tmp_path / "figures" / "gains.svg"
    old.parent.mkdir()
    old.write_text("old")
    write_results(tmp_path, tmp_path)
    assert not old.exists()


def test_open_corpora_and_the_mini_benchmark_are_apart(tmp_path):
    for made in (record("ner"), open_record("wnut17"), open_record("wnut17", **MINILM)):
        write_record(made, tmp_path / "runs")
    written = {str(path.relative_to(tmp_path)) for path in write_results(tmp_path, tmp_path)}
    assert {"tables/open/encoders.md", "figures/open/layer-weights.svg"} <= written
    assert "tables/mini/encoders.md" not in written  # it has one encoder
    assert "wnut17" not in (tmp_path / "tables/mini/groups.md").read_text()
    assert "mini" not in (tmp_path / "tables/open/weights.md").read_text().replace("minilm", "")
