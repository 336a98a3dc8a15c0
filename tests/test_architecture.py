import re
import runpy

import matplotlib as mpl
import pytest

from tests.conftest import PROJECT

PAGE = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
PICTURE = PROJECT / "docs" / "architecture.svg"
DRAWING = runpy.run_path(str(PROJECT / "docs" / "draw_architecture.py"))
# `path`, or `path`: `name`, `name` with what is defined there; a path with <...> is made by a run.
NAMED = re.compile(r"`([\w./-]+)`(?:: ((?:`\w+`(?:, )?)+) \|)?")
FILE = re.compile(r"\.(py|yaml|toml|md|svg)$")
TREE = re.findall(r"^(\S+) {2,}\S", PAGE.split("```")[1], re.MULTILINE)


def paths() -> list[tuple[str, list[str]]]:
    """The paths on the page, and the names that it says are defined there."""
    found = [(path, re.findall(r"\w+", names)) for path, names in NAMED.findall(PAGE)]
    return [(path, names) for path, names in found if "/" in path or FILE.search(path)]


def test_every_path_on_the_page_exists():
    named = [*TREE, *(path for path, _ in paths())]
    assert len(named) > 80  # the patterns find them
    assert [path for path in named if not (PROJECT / path).exists()] == []


def test_every_name_in_the_walks_is_defined_where_the_page_says():
    defined = [(path, name) for path, names in paths() for name in names]
    assert len(defined) > 50
    for path, name in defined:
        text = (PROJECT / path).read_text(encoding="utf-8")
        assert re.search(rf"^(def|class) {name}\b", text, re.MULTILINE), f"{name} is not in {path}"


def test_the_page_has_the_layers_of_the_import_contract_and_every_package():
    rows = re.findall(r"^\| \d+ \| ((?:`\w+`(?:, )?)+) \|", PAGE, re.MULTILINE)
    layers = DRAWING["read_layers"]()
    assert [re.findall(r"\w+", row) for row in rows] == layers
    packages = {name for layer in layers for name in layer} - {"tasks"}
    shown = {re.split(r"[/.]", path)[1] for path in TREE if path.startswith("elmo_bench/")}
    assert shown == packages


def test_the_picture_is_up_to_date_with_the_code(tmp_path):
    stored = PICTURE.read_text(encoding="utf-8")
    drawn_by = re.search(r"Matplotlib v([\d.]+)", stored)
    assert drawn_by is not None
    if drawn_by.group(1) != mpl.__version__:
        pytest.skip(f"drawn by matplotlib {drawn_by.group(1)}, this is {mpl.__version__}")
    DRAWING["main"](tmp_path / "fresh.svg")
    fresh = (tmp_path / "fresh.svg").read_text(encoding="utf-8")
    assert fresh == stored, "run `python docs/draw_architecture.py` and commit the picture"
