import pytest
import torch
from pytorch_lightning import seed_everything

from elmo_bench.records.timer import StageTimer
from elmo_bench.runs.build import build_components


@pytest.fixture(scope="module")
def parts_of(tmp_path_factory, shared_cache):
    """The components of runs on half of the training data, by seed."""
    from elmo_bench.config.compose import run_settings
    from tests.conftest import TINY, paths_below

    folder = tmp_path_factory.mktemp("seeds")

    def build(seed: int):
        words = ["task=ner", "data.train_fraction=0.5", f"seed={seed}"]
        own = [*paths_below(folder), f"paths.cache={shared_cache}"]
        settings = run_settings([*TINY, *own, *words])
        seed_everything(seed, verbose=False)
        return build_components(settings, StageTimer())

    return {1: build(1), 2: build(2), "1 again": build(1)}


def order(parts):
    return [example.id for batch in parts.data.train_dataloader() for example in batch.examples]


def weights(parts):
    return torch.cat([p.detach().flatten() for p in parts.module.parameters()])


def test_a_seed_changes_neither_the_splits_nor_the_subset_nor_the_frozen_layers(parts_of):
    assert parts_of[1].splits == parts_of[2].splits
    assert len(parts_of[1].splits["train"]) == 24
    assert parts_of[1].frozen.fingerprint == parts_of[2].frozen.fingerprint
    assert parts_of[1].label_vocabulary == parts_of[2].label_vocabulary


def test_a_seed_changes_the_order_of_the_training_data(parts_of):
    first, second, again = (order(parts_of[key]) for key in (1, 2, "1 again"))
    assert sorted(first) == sorted(second) and first != second
    assert first == again


def test_a_seed_changes_the_initial_weights(parts_of):
    first, second, again = (weights(parts_of[key]) for key in (1, 2, "1 again"))
    assert not torch.equal(first, second)
    assert torch.equal(first, again)


def test_a_seed_changes_the_dropout(parts_of):
    one, two = parts_of[1].module, parts_of[2].module
    two.load_state_dict(one.state_dict())
    batch = next(iter(parts_of[1].data.val_dataloader()))

    def loss(module, seed):
        seed_everything(seed, verbose=False)
        return module(batch).loss.item()

    assert loss(one.train(), 1) != loss(two.train(), 2)
    assert loss(one.train(), 1) == loss(two.train(), 1)
    assert loss(one.eval(), 1) == loss(two.eval(), 2)
