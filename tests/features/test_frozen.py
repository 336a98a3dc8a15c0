from functools import partial

import pytest

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
