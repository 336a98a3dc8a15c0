"""Attention between paragraph and question, and self-attention of the paragraph."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from elmo_bench.nn.attention import align, masked_softmax


def glorot_linear(input_dim: int, output_dim: int, bias: bool = True) -> nn.Linear:
    """Return a linear map initialized as in the authors' code."""
    linear = nn.Linear(input_dim, output_dim, bias)
    nn.init.xavier_uniform_(linear.weight)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear


class Trilinear(nn.Module):
    """a_ij = u.x_i + v.y_j + (w * x_i).y_j + b, computed without an (i, j, dim) tensor."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.left = glorot_linear(dim, 1)  # its bias is b
        self.right = glorot_linear(dim, 1, bias=False)
        self.product = nn.Parameter(nn.init.xavier_uniform_(torch.empty(dim, 1)))

    def forward(
        self, left: Float[Tensor, "batch time dim"], right: Float[Tensor, "batch other dim"]
    ) -> Float[Tensor, "batch time other"]:
        products = (left * self.product.squeeze(1)) @ right.transpose(1, 2)
        return products + self.left(left) + self.right(right).transpose(1, 2)


class BiAttention(nn.Module):
    """Bidirectional attention: from paragraph tokens to the question, and the reverse."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.scores = Trilinear(dim)
        self.dim = 4 * dim

    def forward(
        self,
        paragraph: Float[Tensor, "batch time dim"],
        mask: Bool[Tensor, "batch time"],
        question: Float[Tensor, "batch other dim"],
        question_mask: Bool[Tensor, "batch other"],
    ) -> Float[Tensor, "batch time out"]:
        scores = self.scores(paragraph, question)
        asked = align(scores, question, question_mask)
        lowest = torch.finfo(scores.dtype).min
        relevance = scores.masked_fill(~question_mask.unsqueeze(1), lowest).amax(dim=2)
        summary = align(relevance.unsqueeze(1), paragraph, mask)  # (batch, 1, dim)
        return torch.cat([paragraph, asked, paragraph * asked, paragraph * summary], dim=2)


class SelfAttention(nn.Module):
    """Attention of each paragraph token to the other tokens; the caller adds it to the token.

    A learned score stands for "nothing", so a token need not attend to any other.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.scores = Trilinear(dim)
        self.nothing = nn.Parameter(torch.tensor(-1.0))
        self.project = nn.Sequential(glorot_linear(3 * dim, dim), nn.ReLU())

    def forward(
        self, tokens: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time dim"]:
        time = tokens.shape[1]
        others = mask.unsqueeze(1) & ~torch.eye(time, dtype=torch.bool, device=mask.device)
        scores = self.scores(tokens, tokens)
        nothing = self.nothing.expand(len(scores), time, 1)
        allowed = torch.cat([others, others.new_ones(len(scores), time, 1)], dim=2)
        shares = masked_softmax(torch.cat([scores, nothing], dim=2), allowed)[:, :, :-1]
        attended = shares @ tokens
        return self.project(torch.cat([attended, tokens, attended * tokens], dim=2))
