import h5py
import numpy as np
import pytest

from elmo_bench import BiLm
from elmo_bench.cli import main


@pytest.fixture
def folder(tiny_bilm, tmp_path):
    tiny_bilm.save(tmp_path / "tiny", {})
    return str(tmp_path / "tiny")


@pytest.mark.parametrize("state", ["reset", "carry"])
def test_embed_writes_one_array_per_line(folder, tmp_path, tiny_bilm, state):
    text, output = tmp_path / "text.txt", tmp_path / "out.hdf5"
    text.write_text("the cat sat\n\nHi\n")
    assert main(["embed", folder, str(text), "-o", str(output), "--state", state]) == 0
    expected = tiny_bilm.embed([["the", "cat", "sat"], [], ["Hi"]], state=state)
    with h5py.File(output) as file:
        assert sorted(file) == ["0", "1", "2"]
        for number, layers in enumerate(expected):
            np.testing.assert_allclose(file[str(number)][()], layers.numpy(), atol=1e-6)


def test_embed_can_store_half_precision(folder, tmp_path):
    text, output = tmp_path / "text.txt", tmp_path / "out.hdf5"
    text.write_text("the cat sat\n")
    main(["embed", folder, str(text), "-o", str(output), "--dtype", "float16"])
    with h5py.File(output) as file:
        assert file["0"].dtype == np.float16


def test_an_exported_model_loads_unchanged(folder, tmp_path, tiny_bilm):
    assert main(["export", folder, str(tmp_path / "official")]) == 0
    again = BiLm.load(tmp_path / "official")
    assert again.fingerprint() == tiny_bilm.fingerprint()


def test_a_missing_model_is_reported_in_one_line(tmp_path, capsys):
    assert main(["embed", "nowhere", "text.txt", "-o", str(tmp_path / "out.hdf5")]) == 2
    assert capsys.readouterr().err.startswith("elmo-bench embed: no biLM checkpoint at nowhere")
