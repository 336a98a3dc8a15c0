import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, linear

from elmo_bench.bilm.softmax import (
    AdaptiveSoftmax,
    FullSoftmax,
    SampledSoftmax,
    build_softmax,
    draw_negatives,
    log_expected_count,
    softmax_from,
)
from elmo_bench.config.compose import validated
from elmo_bench.config.errors import ConfigError
from elmo_bench.config.pretraining_settings import LossSettings

DIM, WORDS = 8, 60


@pytest.fixture
def tokens():
    torch.manual_seed(1)
    return torch.randn(2, 30, DIM), torch.randint(WORDS, (2, 30))


@pytest.fixture(params=["full", "sampled", "adaptive"])
def softmax(request):
    torch.manual_seed(2)
    settings = LossSettings(kind=request.param, num_negatives=20, cutoffs=[10, 30], div_value=2)
    return build_softmax(settings, DIM, WORDS)


def test_probabilities_sum_to_one(softmax, tokens):
    total = softmax.log_probs(tokens[0][0]).exp().sum(dim=1)
    torch.testing.assert_close(total, torch.ones(30))


def test_nll_is_that_of_the_full_distribution(softmax, tokens):
    hidden, targets = tokens[0][0], tokens[1][0]
    expected = -softmax.log_probs(hidden).gather(1, targets[:, None]).squeeze(1)
    torch.testing.assert_close(softmax.nll(hidden, targets), expected)


@pytest.mark.parametrize("max_logits", [1, 7 * WORDS, 30 * WORDS])
def test_nll_does_not_depend_on_the_size_of_the_chunks(monkeypatch, tokens, max_logits):
    softmax, hidden, targets = FullSoftmax(DIM, WORDS), tokens[0][0], tokens[1][0]
    expected = softmax.nll(hidden, targets)
    monkeypatch.setattr("elmo_bench.bilm.softmax._MAX_LOGITS", max_logits)
    torch.testing.assert_close(softmax.nll(hidden, targets), expected)


def test_a_softmax_is_rebuilt_from_its_tensors(softmax, tokens):
    again = softmax_from(softmax.state_dict())
    torch.testing.assert_close(again.log_probs(tokens[0][0]), softmax.log_probs(tokens[0][0]))


def test_every_parameter_gets_a_gradient_even_from_one_frequent_word(softmax):
    softmax.loss(torch.randn(2, 1, DIM), torch.zeros(2, 1, dtype=torch.long), 1).sum().backward()
    assert all(parameter.grad is not None for parameter in softmax.parameters())


@pytest.mark.parametrize("kind", [FullSoftmax, AdaptiveSoftmax])
def test_exact_losses_are_mean_nll(kind, tokens):
    softmax = kind(DIM, WORDS, *([[10, 30], 2] if kind is AdaptiveSoftmax else []))
    expected = torch.stack([softmax.nll(h, t).mean() for h, t in zip(*tokens, strict=True)])
    torch.testing.assert_close(softmax.loss(*tokens, seed=0), expected)


def test_sampled_loss_equals_the_definition_computed_token_by_token(tokens):
    softmax = SampledSoftmax(DIM, WORDS, 20)
    hidden, targets = tokens[0][:1], tokens[1][:1]
    negatives, tries = draw_negatives(WORDS, 20, np.random.default_rng(5))
    losses = []
    for vector, target in zip(hidden[0], targets[0], strict=True):
        words = torch.tensor([int(target), *(n for n in negatives if n != target)])
        logits = linear(vector, softmax.weight[words], softmax.bias[words])
        logits = logits - log_expected_count(words, WORDS, tries)
        losses.append(cross_entropy(logits, torch.tensor(0)))
    torch.testing.assert_close(softmax.loss(hidden, targets, 5)[0], torch.stack(losses).mean())


def test_directions_have_separate_negatives_determined_by_the_seed(tokens):
    softmax = SampledSoftmax(DIM, WORDS, 5)
    same = tokens[0][:1].expand(2, -1, -1), tokens[1][:1].expand(2, -1)
    first = softmax.loss(*same, seed=7)
    assert first[0] != first[1]
    assert first.equal(softmax.loss(*same, seed=7))
    assert not first.equal(softmax.loss(*same, seed=8))


def test_negatives_are_distinct_words_of_the_vocabulary():
    words, tries = draw_negatives(50, 49, np.random.default_rng(1))
    assert len(set(words)) == 49
    assert set(words) <= set(range(50))
    assert tries >= 49


def test_negatives_are_drawn_as_often_as_expected():
    draws, drawn, tries = np.random.default_rng(1), np.zeros(200), []
    for _ in range(3000):
        words, tried = draw_negatives(200, 20, draws)
        drawn[words] += 1
        tries.append(tried)
    expected = np.mean(
        [log_expected_count(torch.arange(200), 200, t).exp().numpy() for t in tries], axis=0
    )
    assert np.abs(drawn / 3000 - expected).max() < 0.05
    assert drawn[0] > drawn[10] > drawn[150]


def test_as_many_negatives_as_words_are_rejected():
    with pytest.raises(ValueError, match="num_negatives=60"):
        SampledSoftmax(DIM, WORDS, WORDS)


@pytest.mark.parametrize("cutoffs", [[30, 10], [10, 60], [10, 100], [0, 10]])
def test_invalid_cutoffs_are_rejected(cutoffs):
    with pytest.raises(ValueError, match="cutoffs"):
        AdaptiveSoftmax(DIM, WORDS, cutoffs, 2)


def test_an_unknown_kind_is_rejected():
    values = {"kind": "hierarchical", "num_negatives": 20, "cutoffs": [10, 30], "div_value": 2}
    with pytest.raises(ConfigError, match="kind=hierarchical"):
        validated(LossSettings, values)
