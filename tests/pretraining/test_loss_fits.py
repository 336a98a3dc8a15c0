import pytest

from elmo_bench.config.pretraining_settings import LossSettings


def loss(kind):
    values = {"kind": kind, "cutoffs": [500, 1500], "div_value": 2, "num_negatives": 1000}
    return LossSettings.model_validate(values)


@pytest.mark.parametrize(
    ("kind", "num_words", "shown"),
    [
        ("full", 4, "kind=full"),
        ("sampled", 1001, "kind=sampled num_negatives=1000"),
        ("sampled", 1000, "kind=full"),
        ("adaptive", 1501, "kind=adaptive cutoffs=[500, 1500]"),
        ("adaptive", 1500, "kind=adaptive cutoffs=[500]"),
        ("adaptive", 500, "kind=full"),
    ],
)
def test_the_loss_shrinks_to_a_small_vocabulary(kind, num_words, shown):
    assert loss(kind).fitted(num_words).shown() == shown
