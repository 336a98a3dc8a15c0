from functools import partial

import pytest
import torch

from elmo_bench.bilm.model import BiLm
from elmo_bench.features.frozen import freeze
from tests.pretraining.tiny_pretraining import compose_pretraining

SEGMENTS = [("a", "short", "one"), ("another",)]


@pytest.fixture
def frozen_with(tmp_path):
    untrained = BiLm(compose_pretraining("bilm=mini", "corpus=mini").bilm.architecture(), ())
    settings = {"layers": "all", "features": "online", "dtype": "float32", "cache": tmp_path}
    return partial(freeze, untrained.eval(), SEGMENTS, SEGMENTS, **settings)


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
        frozen_with(scale=None, layers=layers, features=features)
        for features in ("online", "cache")
    )
    assert online.num_bytes == 0 < cached.num_bytes
    found, expected = online.padded(segments), cached.padded(segments)
    assert found.any()
    torch.testing.assert_close(found, expected)
