import torch
from torch.testing import assert_close

from elmo_bench.nn.attention import (
    AttentivePooling,
    align,
    masked_max,
    masked_mean,
    masked_softmax,
)

MASK = torch.tensor([[True, True, False], [True, False, False]])


def test_masked_keys_get_exactly_zero_and_the_others_sum_to_one():
    shares = masked_softmax(torch.randn(2, 3) * 50, MASK)
    assert (shares[~MASK] == 0).all()
    assert_close(shares.sum(dim=1), torch.ones(2))


def test_shares_are_the_softmax_of_the_keys_in_the_mask():
    scores = torch.randn(2, 3)
    assert_close(masked_softmax(scores, MASK)[0, :2], scores[0, :2].softmax(dim=0))


def test_a_row_without_keys_gets_zeros_and_a_finite_gradient():
    scores = torch.randn(2, 3, requires_grad=True)
    shares = masked_softmax(scores, torch.zeros(2, 3, dtype=torch.bool))
    shares.square().sum().backward()
    assert shares.abs().sum() == 0
    assert scores.grad is not None and scores.grad.isfinite().all()


def test_alignment_ignores_padding():
    scores, values = torch.randn(2, 4, 3), torch.randn(2, 3, 5)
    other = values.masked_fill(~MASK.unsqueeze(2), 1e6)
    assert_close(align(scores, values, MASK), align(scores, other, MASK))


def test_pooling_sees_only_the_tokens_in_the_mask():
    states = torch.randn(2, 3, 5)
    states[~MASK] = 1e6
    pooling = AttentivePooling(5)
    for row, length in ((0, 2), (1, 1)):
        alone = states[row : row + 1, :length]
        assert_close(masked_max(states, MASK)[row], alone[0].max(dim=0).values)
        assert_close(masked_mean(states, MASK)[row], alone[0].mean(dim=0))
        everything = torch.ones(1, length, dtype=torch.bool)
        assert_close(pooling(states, MASK)[row], pooling(alone, everything)[0])
