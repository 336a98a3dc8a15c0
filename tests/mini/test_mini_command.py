"""`elmo-bench mini` from the command line."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from elmo_bench.cli import main
from elmo_bench.mini.describe import description


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_description_has_tables_and_an_example_of_every_task(mini: Path, width: int) -> None:
    console = Console(record=True, width=width, file=StringIO())
    for part in description(mini):
        console.print(part)
    printed = console.export_text()
    for task in ("ner", "sst5", "snli", "squad", "srl", "coref", "wsd", "corpus"):
        assert f"─ {task} ─" in printed
    assert "names of ner/test that train never mentions" in printed
    assert "propositions" in printed  # not cut
    assert max(map(len, printed.splitlines())) <= width


def test_a_folder_that_is_not_empty_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("")
    assert main(["mini", "write", str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err
