"""What the model and the metric of every task must do; other tests are about one task each."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from elmo_bench.config.compose import task_names
from elmo_bench.records.predictions import score
from elmo_bench.task import collate
from tests.tasks.building import (
    case_of,
    elmo_of,
    examples_of,
    metric_of,
    mistaken_of,
    new_model,
    new_task,
    placements_of,
)

NAMES = task_names()


def cases(*placements):
    """Every variant of every task, with ELMo at each of some placements."""
    return pytest.mark.parametrize(
        ("name", "changes", "placements"),
        [
            pytest.param(name, changes, chosen, id="-".join([name, *map(str, changes), *chosen]))
            for name in NAMES
            for changes in case_of(name).variants
            for chosen in placements
            if set(chosen) <= set(placements_of(name))
        ],
    )


def backward(model, batch, placements):
    model.zero_grad()
    model(batch, elmo_of(batch, placements)).loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@cases((), ("input",), ("output",), ("input", "output"))
def test_an_example_has_the_same_loss_and_prediction_alone_and_in_a_batch(
    name, changes, placements
):
    examples = examples_of(name)
    model = new_model(new_task(name, **changes), examples, placements).eval()
    batches = [collate([example]) for example in examples]
    alone = [model(batch, elmo_of(batch, placements)) for batch in batches]
    batch = collate(examples)
    together = model(batch, elmo_of(batch, placements))
    assert_close(torch.stack([output.loss for output in alone]).mean(), together.loss)
    assert [output.predictions[0] for output in alone] == together.predictions


@cases((), ("input",), ("output",), ("input", "output"))
def test_gradients_are_finite_and_reach_every_parameter(name, changes, placements):
    model = new_model(new_task(name, **changes), examples_of(name), placements)
    backward(model, collate(examples_of(name)), placements)
    # A single number is a bias before a softmax, which it does not change.
    reached = {key for key, p in model.named_parameters() if p.grad.any() or p.numel() == 1}
    assert reached == {key for key, _ in model.named_parameters()}


@cases((), ("input",), ("input", "output"))
def test_a_few_examples_can_be_memorized(name, changes, placements):
    task, examples = new_task(name, **changes), examples_of(name)
    model, batch = new_model(task, examples, placements), collate(examples)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(100):
        backward(model, batch, placements)
        optimizer.step()
    predictions = model.eval()(batch, elmo_of(batch, placements)).predictions
    assert predictions == [task.gold(example) for example in examples]


@cases(())
def test_training_makes_no_predictions(name, changes, placements):
    model = new_model(new_task(name, **changes), examples_of(name))
    assert model(collate(examples_of(name)), {}).predictions == []


@cases(())
def test_a_loaded_model_predicts_the_same_as_the_saved_one(name, changes, placements):
    task, examples = new_task(name, **changes), examples_of(name)
    saved, loaded = (new_model(task, examples) for _ in range(2))
    with torch.no_grad():
        for parameter in saved.parameters():
            parameter.add_(torch.randn_like(parameter))
    batch = collate(examples)
    saved(batch, {})  # in training, so that averages over batches change too
    loaded.load_state_dict(saved.state_dict())
    expected, found = (model.eval()(batch, {}) for model in (saved, loaded))
    assert_close(found.loss, expected.loss)
    assert found.predictions == expected.predictions


@pytest.mark.parametrize("name", NAMES)
def test_gold_scores_100(name):
    task, examples = new_task(name), examples_of(name)
    gold = [task.gold(example) for example in examples]
    assert task.score(examples, gold)[metric_of(name)] == pytest.approx(100)


@pytest.mark.parametrize("name", NAMES)
def test_the_counts_of_examples_add_up_to_the_score(name):
    task, examples, predictions = new_task(name), examples_of(name), mistaken_of(name)
    pairs = zip(examples, predictions, strict=True)
    counts = np.array([task.counts(*pair) for pair in pairs], dtype=float)
    scores = task.score(examples, predictions)
    assert 0 < scores[metric_of(name)] < 100
    assert scores[metric_of(name)] == pytest.approx(score(counts.sum(axis=0)))
    right, found, recalled, expected = counts.sum(axis=(0, 1))
    if "precision" in scores:
        assert scores["precision"] == pytest.approx(100 * right / found)
        assert scores["recall"] == pytest.approx(100 * recalled / expected)
