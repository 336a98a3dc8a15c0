import shutil
from collections import namedtuple

import numpy as np
import pytest

from elmo_bench.analysis import stream
from elmo_bench.analysis.stream import stream_layers, write_vectors


def test_a_text_is_read_at_most_one_chunk_ahead(bilm, monkeypatch):
    monkeypatch.setattr(stream, "CHUNK_TOKENS", 6)
    pulled = []

    def sentences():
        for number in range(100):
            pulled.append(number)
            yield ["a", "b", "c"]

    layers = stream_layers(bilm, sentences(), list)
    next(layers)
    assert len(pulled) == 2


def test_the_size_of_chunks_does_not_matter(bilm, monkeypatch):
    sentences = [["a"] * length for length in (3, 1, 5, 2)]
    whole = [stack for _, stack in stream_layers(bilm, sentences, list)]
    monkeypatch.setattr(stream, "CHUNK_TOKENS", 2)
    for one, other in zip(whole, stream_layers(bilm, sentences, list), strict=True):
        np.testing.assert_allclose(one, other[1], atol=1e-6)


def test_vectors_are_returned_memory_mapped_and_in_order(tmp_path):
    blocks = [np.full((2, rows, 3), float(rows)) for rows in (1, 4)]
    found = write_vectors(tmp_path / "v.npy", (2, 5, 3), blocks)
    assert isinstance(found, np.memmap)
    assert found[1, :, 0].tolist() == [1, 4, 4, 4, 4]


@pytest.mark.parametrize("rows", [1, 4])
def test_a_file_that_changes_meanwhile_is_reported(tmp_path, rows):
    with pytest.raises(ValueError, match=f"Expected 3 rows but got {rows}"):
        write_vectors(tmp_path / "v.npy", (1, 3, 2), [np.ones((1, rows, 2))])


def test_values_outside_float16_are_reported(tmp_path):
    with (
        np.errstate(over="ignore"),
        pytest.raises(ValueError, match="float16 cannot hold"),
    ):
        write_vectors(tmp_path / "v.npy", (1, 1, 1), [np.full((1, 1, 1), 1e6)])


def test_a_full_disk_is_reported_before_anything_is_computed(tmp_path, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(free=10))
    with pytest.raises(OSError, match="--cache"):
        write_vectors(tmp_path / "v.npy", (1, 1000, 10), iter([]))
