"""Attention and pooling over padded sequences."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


def masked_softmax(
    scores: Float[Tensor, "*leading key"], mask: Bool[Tensor, "*#leading #key"]
) -> Float[Tensor, "*leading key"]:
    """Softmax over the last axis, restricted to the keys in the mask; the others get exactly zero.

    A row without any key gets zeros.
    """
    lowest = torch.finfo(scores.dtype).min  # not -inf: the softmax of a row of -inf is NaN
    shares = scores.masked_fill(~mask, lowest).softmax(dim=-1)
    return shares.masked_fill(~mask, 0.0)


def align(
    scores: Float[Tensor, "batch time other"],
    values: Float[Tensor, "batch other dim"],
    mask: Bool[Tensor, "batch other"],
) -> Float[Tensor, "batch time dim"]:
    """For every token, the mean of another sequence's values weighted by the softmax of scores."""
    return masked_softmax(scores, mask.unsqueeze(1)) @ values


def masked_max(
    states: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"]
) -> Float[Tensor, "batch dim"]:
    """The maximum of each feature over the tokens of a sequence."""
    lowest = torch.finfo(states.dtype).min
    return states.masked_fill(~mask.unsqueeze(2), lowest).amax(dim=1)


def masked_mean(
    states: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"]
) -> Float[Tensor, "batch dim"]:
    """The mean of each feature over the tokens of a sequence."""
    total = states.masked_fill(~mask.unsqueeze(2), 0.0).sum(dim=1)
    return total / mask.sum(dim=1, keepdim=True)


class AttentivePooling(nn.Module):
    """The mean of a sequence's tokens, weighted by the softmax of a learned score per token."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.score = nn.Linear(dim, 1)

    def forward(
        self, states: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch dim"]:
        """Pool the tokens in the mask."""
        scores = self.score(states).transpose(1, 2)  # (batch, 1, time)
        return align(scores, states, mask).squeeze(1)
