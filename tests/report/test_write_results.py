import re
import shutil
import subprocess
from pathlib import Path

import matplotlib as mpl
import pytest

from elmo_bench.config.compose import PROJECT
from elmo_bench.report.write_results import write_stored

RESULTS = PROJECT / "results"
MADE = "made from results/runs by `make report`: run it and commit what changed"


def in_git(*folders: str) -> list[Path]:
    """The committed files of some folders of results/: a user's own runs lie there too."""
    names = [f"results/{folder}" for folder in folders]
    listed = subprocess.run(
        ["git", "ls-files", *names], cwd=PROJECT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [PROJECT / name for name in listed.stdout.splitlines()]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    target = tmp_path_factory.mktemp("results")
    records = in_git("runs", "analysis")
    if not records:
        pytest.skip("no records are committed yet")
    for path in records:
        copy = target / path.relative_to(RESULTS)
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, copy)
    return target, write_stored(target / "runs", target)


@pytest.mark.parametrize("kind", ["tables", "figures"])
def test_the_stored_files_are_those_of_the_stored_runs(kind, fresh):
    target, written = fresh
    stored = {path.name: path for path in in_git(kind)}
    assert set(stored) == {path.name for path in written if path.parent.name == kind}, MADE
    for name, path in stored.items():
        text = path.read_text(encoding="utf-8")
        drawn_by = re.search(r"Matplotlib v([\d.]+)", text)
        if drawn_by and drawn_by.group(1) != mpl.__version__:
            pytest.skip(f"drawn by matplotlib {drawn_by.group(1)}, this is {mpl.__version__}")
        assert text == (target / kind / name).read_text(encoding="utf-8"), f"{path} is {MADE}"


def test_no_runs_give_tables_that_say_what_to_run_and_no_figures(tmp_path):
    (tmp_path / "runs").mkdir()
    written = write_stored(tmp_path / "runs", tmp_path)
    assert {path.suffix for path in written} == {".md"}
    assert "python run.py task=ner" in (tmp_path / "tables" / "main.md").read_text()


def test_a_figure_without_runs_any_more_is_taken_away(tmp_path):
    (tmp_path / "runs").mkdir()
    old = tmp_path / "figures" / "gains.svg"
    old.parent.mkdir()
    old.write_text("old")
    write_stored(tmp_path / "runs", tmp_path)
    assert not old.exists()
