import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
import torch

from elmo_bench.cli import main
from elmo_bench.data.files import DataError
from elmo_bench.features.cache import CacheInfo, FeatureCache, find_caches
from tests.bilm.conftest import build_bilm

SEGMENTS = [("A", "cat", "sat"), ("Hi",), ("a", "cat"), ("a cat",), ("naïve", "𝔘", "\0", "", " ")]
ALL = (0, 1, 2)
DIM = 4
TOLERANCE = {"float32": 0.0, "float16": 1e-3, "bfloat16": 1e-2}


def embed(segments):
    """Numbers that depend only on the tokens."""
    seeds = [sum(map(ord, "|".join(segment))) for segment in segments]
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    pairs = zip(segments, generators, strict=True)
    return [torch.randn(3, len(segment), DIM, generator=generator) for segment, generator in pairs]


def refuse(segments):
    raise AssertionError(f"computed again: {segments}")


def new_cache(root, dtype="float32", fingerprint="f" * 64):
    return FeatureCache(root, CacheInfo(fingerprint, dtype, num_layers=3, dim=DIM))


@pytest.fixture
def filled(tmp_path):
    cache = new_cache(tmp_path)
    cache.fill(SEGMENTS, ALL, embed)
    return cache


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_cached_layers_equal_the_computed_ones(tmp_path, dtype):
    cache = new_cache(tmp_path, dtype)
    cache.fill(SEGMENTS, ALL, embed)
    tolerance = TOLERANCE[dtype]
    for segment, layers in zip(SEGMENTS, embed(SEGMENTS), strict=True):
        read = cache.read(segment, ALL)
        assert read.dtype == torch.float32
        torch.testing.assert_close(read, layers, rtol=tolerance, atol=tolerance)


def test_a_batch_is_padded_with_zeros(filled):
    batch = filled.read_batch(SEGMENTS, ALL)
    assert batch.shape == (3, len(SEGMENTS), 5, DIM)
    for row, layers in enumerate(embed(SEGMENTS)):
        assert torch.equal(batch[:, row, : layers.shape[1]], layers)
        assert batch[:, row, layers.shape[1] :].eq(0).all()


def test_only_the_requested_layers_are_read(filled):
    # The other layers may even be damaged.
    damage(filled, SEGMENTS[0], layer=0)
    again = new_cache(filled.folder.parent)
    assert torch.equal(again.read(SEGMENTS[0], (2, 1)), embed(SEGMENTS[:1])[0][[2, 1]])


def test_segments_are_computed_once(filled):
    assert filled.fill(SEGMENTS * 2, ALL, refuse) == 0
    assert new_cache(filled.folder.parent).fill(SEGMENTS, ALL, refuse) == 0


def test_a_cache_grows(filled):
    more = ("one", "more")
    assert filled.missing([*SEGMENTS, more], ALL) == [more]
    assert filled.fill([*SEGMENTS, more], ALL, embed) == 1
    assert torch.equal(filled.read(more, ALL), embed([more])[0])
    assert torch.equal(filled.read(SEGMENTS[0], ALL), embed(SEGMENTS[:1])[0])


def test_each_bilm_and_dtype_has_its_own_cache(filled):
    root = filled.folder.parent
    assert new_cache(root, fingerprint="e" * 64).missing(SEGMENTS, ALL) == SEGMENTS
    assert new_cache(root, "float16").missing(SEGMENTS, ALL) == SEGMENTS


def test_missing_layers_are_reported(filled):
    with pytest.raises(DataError, match="lacks the layers of 'never seen'"):
        filled.read(("never", "seen"), ALL)


def damage(cache, segment, layer):
    """Flip a bit of a layer on disk."""
    [entry] = [e for e in cache.store.entries.values() if holds(cache, e, segment)]
    path = cache.folder / "blocks.bin"
    data = bytearray(path.read_bytes())
    data[entry.offset + layer * entry.size // 3] ^= 1
    path.write_bytes(data)


def holds(cache, entry, segment):
    data = (cache.folder / "blocks.bin").read_bytes()[entry.offset : entry.offset + entry.size]
    return data == embed([segment])[0].numpy().tobytes()


def test_a_damaged_entry_is_detected_and_computed_again(filled):
    damage(filled, SEGMENTS[0], layer=1)
    again = new_cache(filled.folder.parent)
    with pytest.raises(DataError):
        again.read(SEGMENTS[0], ALL)
    assert again.fill(SEGMENTS, ALL, embed) == 1
    assert torch.equal(again.read(SEGMENTS[0], ALL), embed(SEGMENTS[:1])[0])
    assert new_cache(filled.folder.parent).missing(SEGMENTS, ALL) == []


@pytest.mark.parametrize("name", ["blocks.bin", "index.bin"])
@pytest.mark.parametrize("lost", [1, 50, 200])
def test_a_truncated_file_is_completed(filled, name, lost):
    path = filled.folder / name
    path.write_bytes(path.read_bytes()[:-lost])
    again = new_cache(filled.folder.parent)
    assert 1 <= again.fill(SEGMENTS, ALL, embed) <= len(SEGMENTS)
    for cache in (again, new_cache(filled.folder.parent)):
        for segment, layers in zip(SEGMENTS, embed(SEGMENTS), strict=True):
            assert torch.equal(cache.read(segment, ALL), layers)


@pytest.mark.parametrize("record", range(len(SEGMENTS)))
def test_a_damaged_index_record_affects_only_its_segment(filled, record):
    path = filled.folder / "index.bin"
    data = bytearray(path.read_bytes())
    data[record * len(data) // len(SEGMENTS) + 18] ^= 64
    path.write_bytes(data)
    assert new_cache(filled.folder.parent).fill(SEGMENTS, ALL, embed) == 1


def test_a_writer_that_crashed_before_the_index_does_no_harm(filled):
    with open(filled.folder / "blocks.bin", "ab") as file:
        file.write(b"half a blo")
    assert filled.fill([("new",)], ALL, embed) == 1
    assert torch.equal(new_cache(filled.folder.parent).read(("new",), ALL), embed([("new",)])[0])


def fill_many(root):
    segments = [(str(number),) * (1 + number % 7) for number in range(300)]
    new_cache(root).fill(segments, ALL, embed)
    return segments


def test_several_processes_fill_and_read_a_cache_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("elmo_bench.features.cache.CHUNK_TOKENS", 50)
    with ProcessPoolExecutor(4, mp_context=get_context("fork")) as pool:
        [segments, *_] = pool.map(fill_many, [tmp_path] * 8)
    cache = new_cache(tmp_path)
    assert cache.missing(segments, ALL) == []
    assert cache.damaged() == 0
    for segment, layers in zip(segments, embed(segments), strict=True):
        assert torch.equal(cache.read(segment, ALL), layers)


def test_a_reader_sees_later_writes(filled):
    reader = new_cache(filled.folder.parent)
    filled.fill([("later",)], ALL, embed)
    assert reader.missing([("later",)], ALL) == []
    assert torch.equal(reader.read(("later",), ALL), embed([("later",)])[0])


def test_a_full_disk_is_reported_with_the_sizes(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=10_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    segments = [("word",) * 1_000_000]
    assert new_cache(tmp_path).num_bytes(segments) == 48_000_000
    with pytest.raises(OSError, match=r"take 0\.05 GB .* but 0\.01 GB are free.*dtype=float16"):
        new_cache(tmp_path).fill(segments, ALL, refuse)


def test_values_that_overflow_the_dtype_are_rejected(tmp_path):
    with pytest.raises(ValueError, match=r"'Hi' are not finite in float16"):
        new_cache(tmp_path, "float16").fill([("Hi",)], ALL, lambda s: [torch.full((3, 1, 4), 1e6)])


def test_layers_of_the_wrong_shape_are_rejected(tmp_path):
    with pytest.raises(ValueError, match=r"expected .* \(3, 1, 4\), got \(2, 1, 4\)"):
        new_cache(tmp_path).fill([("Hi",)], ALL, lambda s: [torch.zeros(2, 1, 4)])


def test_a_cache_is_pickled_without_its_contents(filled):
    filled.read(SEGMENTS[0], ALL)
    sent = pickle.dumps(filled)
    assert len(sent) < 5000
    assert torch.equal(pickle.loads(sent).read(SEGMENTS[0], ALL), embed(SEGMENTS[:1])[0])


def test_cached_layers_of_a_bilm_equal_fresh_ones(tmp_path):
    bilm = build_bilm()
    info = CacheInfo(bilm.fingerprint(), "float32", bilm.num_layers, bilm.output_dim)
    cache = FeatureCache(tmp_path, info)
    cache.fill(SEGMENTS, ALL, bilm.embed)
    for segment in SEGMENTS:
        torch.testing.assert_close(cache.read(segment, ALL), bilm.embed([segment])[0])


def test_command_lists_verifies_and_clears(filled, capsys):
    root = f"--root={filled.folder.parent}"
    assert main(["cache", root]) == 0
    assert filled.folder.name[:8] in capsys.readouterr().out
    assert main(["cache", "verify", root]) == 0
    damage(filled, SEGMENTS[0], layer=1)
    assert main(["cache", "verify", root]) == 1
    assert "1 damaged" in capsys.readouterr().out
    assert main(["cache", "clear", "abc", root]) == 0
    assert find_caches(filled.folder.parent)
    assert main(["cache", "clear", root]) == 0
    assert not find_caches(filled.folder.parent)
