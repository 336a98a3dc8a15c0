from functools import partial

import pytest
import torch

from elmo_bench.bilm.model import BiLm
from elmo_bench.features.frozen import freeze
from tests.pretraining.tiny_pretraining import compose_pretraining

SEGMENTS = [("a", "short", "one"), ("another",)]


@pytest.fixture(scope="module")
def bilm():
    torch.manual_seed(0)
    return BiLm(compose_pretraining("bilm=mini", "corpus=mini").bilm.architecture(), ()).eval()


@pytest.fixture
def frozen_with(bilm, tmp_path):
    settings = {
        "layers": "all",
        "scale": None,
        "state": "reset",
        "features": "online",
        "dtype": "float32",
        "cache": tmp_path,
    }
    return partial(freeze, bilm, {"train": SEGMENTS}, **settings)


def test_one_number_divides_every_layer(frozen_with):
    assert frozen_with(scale=5.0).scale == [5.0, 5.0, 5.0]


def test_a_list_has_a_number_for_each_layer(frozen_with):
    assert frozen_with(scale=[1.0, 2.0, 3.0]).scale == [1.0, 2.0, 3.0]


def test_rms_measures_the_layers(frozen_with):
    sizes = frozen_with(scale="rms").scale
    assert len(set(sizes)) == 3
    assert min(sizes) > 0


@pytest.mark.parametrize("layers", ["all", "last"])
@pytest.mark.parametrize("segments", [SEGMENTS, SEGMENTS[::-1], SEGMENTS[:1]])
def test_layers_computed_online_are_those_of_the_cache(frozen_with, layers, segments):
    online, cached = (
        frozen_with(layers=layers, features=features) for features in ("online", "cache")
    )
    assert online.num_bytes == 0 < cached.num_bytes
    found, expected = online.padded["train"](segments), cached.padded["train"](segments)
    assert found.any()
    torch.testing.assert_close(found, expected)


A, B, C = ("one", "two"), ("three",), ("four", "five", "six")


@pytest.fixture
def carried(bilm, tmp_path):
    """Return a function for the layers of splits that are read as streams, and its cache."""

    def freeze_streams(**splits):
        settings = {"layers": "all", "scale": None, "features": "cache", "dtype": "float32"}
        return freeze(bilm, splits, state="carry", cache=tmp_path, **settings).padded

    return freeze_streams


def assert_layers(found, expected):
    for row, stack in enumerate(expected):
        torch.testing.assert_close(found[:, row, : stack.shape[1]], stack)


def test_carried_states_are_those_of_the_split_as_one_stream(bilm, carried):
    padded = carried(train=[A, B, C], dev=[C, A])
    assert_layers(padded["train"]([A, B, C]), bilm.embed([A, B, C], state="carry"))
    assert_layers(padded["dev"]([C, A]), bilm.embed([C, A], state="carry"))
    assert_layers(padded["train"]([C]), bilm.embed([A, B, C], state="carry")[2:])
    with pytest.raises(AssertionError):
        assert_layers(padded["train"]([C]), bilm.embed([C]))


def test_carried_layers_are_not_taken_from_another_corpus_or_order(bilm, carried):
    carried(train=[A, B, C])
    assert_layers(carried(train=[A, C])["train"]([C]), bilm.embed([A, C], state="carry")[1:])
    assert_layers(carried(train=[B, A])["train"]([A]), bilm.embed([B, A], state="carry")[1:])
    assert_layers(carried(train=[A])["train"]([A]), bilm.embed([A]))


def test_carried_layers_are_read_from_the_cache_again(bilm, carried, monkeypatch):
    expected = carried(train=[A, B, C])["train"]([A, B, C])
    monkeypatch.setattr(bilm.extractor, "embed_stream", None)
    assert torch.equal(carried(train=[A, B, C])["train"]([A, B, C]), expected)
    assert torch.equal(carried(train=[A, B])["train"]([A, B]), expected[:, :2, :2])


def test_a_stream_of_any_length_has_the_layers_of_one_call(bilm, monkeypatch):
    expected = bilm.embed([A, B, C], state="carry")
    monkeypatch.setattr("elmo_bench.bilm.model.STREAM_TOKENS", 1)
    for found, wanted in zip(bilm.stream(iter([A, B, C])), expected, strict=True):
        torch.testing.assert_close(found, wanted)


class Stateless:
    """An encoder with what the protocol asks for and nothing more."""

    name, num_layers, output_dim = "lengths", 2, 3

    def to(self, device):
        return self

    def fingerprint(self):
        return "0" * 16

    def embed(self, sentences, *, batch_size=64):
        return [torch.tensor([[[float(len(w))] * 3 for w in s]] * 2) for s in sentences]


@pytest.mark.parametrize("features", ["online", "cache"])
def test_any_encoder_that_meets_the_protocol_gives_layers(tmp_path, features):
    settings = {"scale": "rms", "state": "reset", "dtype": "float32", "cache": tmp_path}
    frozen = freeze(Stateless(), {"train": [A]}, layers="last", features=features, **settings)
    assert frozen.padded["train"]([A]).tolist() == [[[[3.0] * 3] * 2]]


def test_an_encoder_without_a_state_does_not_carry_one(tmp_path):
    settings = {"layers": "all", "scale": None, "features": "cache", "dtype": "float32"}
    with pytest.raises(ValueError, match=r"bilm\.state=carry: lengths has no state"):
        freeze(Stateless(), {"train": [A]}, state="carry", cache=tmp_path, **settings)
