import re
import shutil
import subprocess
from pathlib import Path

import matplotlib as mpl
import pytest

from elmo_bench.report.write_results import write_results
from tests.conftest import PROJECT

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
    stored = {path.name: path for path in in_git(kind)}
    assert set(stored) == {path.name for path in written if path.parent.name == kind}, MADE
    for name, path in stored.items():
        text = path.read_text(encoding="utf-8")
        drawn_by = re.search(r"Matplotlib v([\d.]+)", text)
        if drawn_by and drawn_by.group(1) != mpl.__version__:
            pytest.skip(f"drawn by matplotlib {drawn_by.group(1)}, this is {mpl.__version__}")
        assert text == (target / kind / name).read_text(encoding="utf-8"), f"{path} is {MADE}"


def test_without_runs_tables_say_what_to_run_and_there_are_no_figures(tmp_path):
    written = write_results(tmp_path, tmp_path)
    assert {path.suffix for path in written} == {".md"}
    assert "python run.py task=ner" in (tmp_path / "tables" / "main.md").read_text()


def test_an_old_figure_without_runs_is_removed(tmp_path):
    old = tmp_path / "figures" / "gains.svg"
    old.parent.mkdir()
    old.write_text("old")
    write_results(tmp_path, tmp_path)
    assert not old.exists()
