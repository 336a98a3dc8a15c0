"""The Lightning module of tasks: the terms of its loss."""

import pytest
import torch
from torch import nn

from elmo_bench.data.example import Example
from elmo_bench.errors import UserError
from elmo_bench.features.mix import ElmoMix
from elmo_bench.runs.module import TaskModule
from elmo_bench.task import Output, collate
from elmo_bench.training.losses import READ_EVERY


class Constant(nn.Module):
    def forward(self, batch, elmo):
        return Output(torch.tensor(2.0), [])


def step(l2, weights, **settings):
    mix = ElmoMix(3, l2=l2)
    with torch.no_grad():
        mix.weights.copy_(torch.tensor(weights))
    parts = Constant(), {"input": mix}, lambda *_: {}, "f1", torch.optim.SGD
    module = TaskModule(*parts, **settings)
    module.log = lambda *args, **kwargs: None
    examples = [Example(name, (("a", "b"),), None) for name in "12"]
    batch = collate(examples, torch.zeros(3, 1, 2, 4))
    return module.training_step(batch, 0)


def test_the_training_loss_includes_lambda_times_the_squared_raw_weights():
    assert step(0.0, [1.0, 2.0, 3.0]).item() == 2.0
    assert step(0.5, [1.0, 2.0, 3.0]).item() == pytest.approx(2.0 + 0.5 * 14)


def test_the_losses_of_a_batch_may_be_summed_which_leaves_the_penalty_as_it_is():
    summed = step(0.5, [1.0, 2.0, 3.0], sum_over_batch=True)
    assert summed.item() == pytest.approx(2 * 2.0 + 0.5 * 14)


def test_the_penalty_pulls_the_weights_toward_zero():
    mix = ElmoMix(3, l2=1.0)
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([1.0, 0.0, -1.0]))
    mix.penalty().backward()
    assert mix.weights.grad.tolist() == [2.0, 0.0, -2.0]


def test_a_loss_that_is_not_finite_ends_the_training_with_advice():
    class Broken(Constant):
        def forward(self, batch, elmo):
            return Output(torch.tensor(float("nan")), [])

    module = TaskModule(Broken(), {}, lambda *_: {}, "f1", torch.optim.SGD)
    module.log = lambda *args, **kwargs: None
    with pytest.raises(UserError, match=r"task\.training\.optimizer\.lr"):
        for number in range(READ_EVERY):
            module.training_step(collate([Example("1", (("a",),), None)]), number)
