"""Dropout with the same mask at every step of a sequence."""

from jaxtyping import Float
from torch import Tensor, nn


class VariationalDropout(nn.Module):
    """Drops a feature from all tokens of a segment or from none (Gal and Ghahramani, 2016)."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(rate)

    def forward(
        self, inputs: Float[Tensor, "segment time dim"]
    ) -> Float[Tensor, "segment time dim"]:
        if not self.training or self.dropout.p == 0:
            return inputs
        return inputs * self.dropout(inputs.new_ones(inputs.shape[0], 1, inputs.shape[2]))
