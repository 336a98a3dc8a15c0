import shutil
from collections import namedtuple

import numpy as np
import pytest

from elmo_bench.analysis import stream
from elmo_bench.analysis.stream import stream_layers, write_vectors


def test_a_text_is_read_no_further_than_a_chunk_ahead(bilm, monkeypatch):
    monkeypatch.setattr(stream, "CHUNK_TOKENS", 6)
    pulled = []

    def sentences():
        for number in range(100):
            pulled.append(number)
            yield ["a", "b", "c"]

    layers = stream_layers(bilm, sentences(), list)
    next(layers)
    assert len(pulled) == 2


def test_chunks_change_nothing(bilm, monkeypatch):
    sentences = [["a"] * length for length in (3, 1, 5, 2)]
    whole = [stack for _, stack in stream_layers(bilm, sentences, list)]
    monkeypatch.setattr(stream, "CHUNK_TOKENS", 2)
    for one, other in zip(whole, stream_layers(bilm, sentences, list), strict=True):
        np.testing.assert_allclose(one, other[1], atol=1e-6)


def test_vectors_come_back_mapped_in_order(tmp_path):
    blocks = [np.full((2, rows, 3), float(rows)) for rows in (1, 4)]
    found = write_vectors(tmp_path / "v.npy", (2, 5, 3), blocks)
    assert isinstance(found, np.memmap)
    assert found[1, :, 0].tolist() == [1, 4, 4, 4, 4]


@pytest.mark.parametrize("rows", [1, 4])
def test_a_file_that_changes_meanwhile_is_told(tmp_path, rows):
    with pytest.raises(ValueError, match=f"3 rows were announced, {rows} came"):
        write_vectors(tmp_path / "v.npy", (1, 3, 2), [np.ones((1, rows, 2))])


def test_numbers_that_float16_lacks_are_told(tmp_path):
    with (
        np.errstate(over="ignore"),
        pytest.raises(ValueError, match="float16 cannot hold"),
    ):
        write_vectors(tmp_path / "v.npy", (1, 1, 1), [np.full((1, 1, 1), 1e6)])


def test_a_full_disk_is_told_before_anything_is_computed(tmp_path, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(free=10))
    with pytest.raises(OSError, match="--cache"):
        write_vectors(tmp_path / "v.npy", (1, 1000, 10), iter([]))
