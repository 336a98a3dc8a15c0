import re

import nbformat
import pytest
from nbclient import NotebookClient

from elmo_bench.mini.files import write_mini
from elmo_bench.mini.settings import MiniSettings
from tests.analysis.conftest import build_bilm
from tests.conftest import PROJECT

NOTEBOOK = PROJECT / "notebooks/elmo_in_a_dozen_cells.ipynb"
SMALL = MiniSettings(
    train=60, dev=20, test=20, train_documents=1, dev_documents=1, test_documents=1,
    corpus_tokens=1000, heldout_tokens=100,
)  # fmt: skip


@pytest.mark.slow
def test_every_cell_of_the_notebook_runs(tmp_path):
    build_bilm().save(tmp_path / "bilm", record={})
    write_mini(tmp_path / "mini", SMALL)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    settings = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert settings.source.startswith("BILM = None")
    settings.source = f"BILM, DATA = {str(tmp_path / 'bilm')!r}, {str(tmp_path / 'mini')!r}"
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": PROJECT}}).execute()


def test_the_notebook_has_a_dozen_code_cells():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert sum(cell.cell_type == "code" for cell in notebook.cells) == 12


def test_the_notebook_is_stored_with_its_figures_and_without_machine_paths():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    figures = [out.data["image/png"] for out in outputs if "image/png" in out.get("data", {})]
    assert len(figures) == 2 and all(len(figure) < 200_000 for figure in figures)
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert not re.search(r"/home/|/root/|/tmp/|site-packages|Traceback", text)
    assert not any(out.output_type == "error" for out in outputs)
