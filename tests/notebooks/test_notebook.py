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
