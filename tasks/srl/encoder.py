"""The encoder of He et al. (2017): LSTM layers in alternating directions, with highway gates."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from elmo_bench.nn.init import orthogonal_blocks_
from elmo_bench.nn.packed import Direction, Packing, run_directions


class HighwayCell:
    """c = f * c + i * tanh(j),  output = r * o * tanh(c) + (1 - r) * k.

    Blocks in order: candidate j, input i, forget f, output o, highway r, and k, which is
    computed from the input alone.
    """

    compiled = "highway"
    blocks = 6
    cell_blocks = 3
    recurrent_blocks = 5

    def advance(self, gates: Tensor, before: Tensor, cell: Tensor, output: Tensor) -> None:
        units = cell.shape[1]
        j = gates[:, :units].tanh_()
        i, f, o, r = gates[:, units : 5 * units].sigmoid_().chunk(4, dim=1)
        torch.mul(i, j, out=cell).addcmul_(f, before)
        torch.tanh(cell, out=output).mul_(o)
        torch.lerp(gates[:, 5 * units :], output, r, out=output)

    def slopes(
        self, gates: Tensor, before: Tensor, cells: Tensor
    ) -> tuple[list[Tensor], Tensor, Tensor]:
        j, i, f, o, r, k = gates.chunk(6, dim=1)
        squashed = cells.tanh()
        of_cell = [i * (1 - j * j), j * i * (1 - i), before * f * (1 - f)]
        of_output = [r * squashed * o * (1 - o), (o * squashed - k) * r * (1 - r), 1 - r]
        return of_cell + of_output, r * o * (1 - squashed * squashed), f.clone()


class HighwayLstm(nn.Module):
    """LSTM layers that alternate between reading forwards and backwards.

    Args:
        input_dim: Size of the inputs.
        hidden_dim: Units of each layer.
        num_layers: Number of layers; the second, fourth, ... read backwards.
        dropout: On the output of a layer, with one mask for all steps of a sequence.
    """

    def __init__(self, input_dim: int, hidden_dim: int, num_layers: int, dropout: float) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            _HighwayLayer(hidden_dim if number else input_dim, hidden_dim, bool(number % 2))
            for number in range(num_layers)
        )

    def forward(
        self, inputs: Float[Tensor, "row dim"], packing: Packing
    ) -> Float[Tensor, "row out"]:
        for layer in self.layers:
            mask = None
            if self.training and self.dropout.p:
                mask = self.dropout(inputs.new_ones(packing.sizes[0], self.hidden_dim))
            inputs = layer(inputs, packing, mask)
        return inputs


class _HighwayLayer(nn.Module):
    def __init__(self, input_dim: int, hidden_dim: int, backwards: bool) -> None:
        super().__init__()
        self.cell, self.backwards = HighwayCell(), backwards
        self.from_input = nn.Linear(input_dim, self.cell.blocks * hidden_dim)
        self.from_output = nn.Linear(hidden_dim, self.cell.recurrent_blocks * hidden_dim, False)
        orthogonal_blocks_(self.from_input.weight, hidden_dim)
        orthogonal_blocks_(self.from_output.weight, hidden_dim)
        with torch.no_grad():
            self.from_input.bias.zero_()[2 * hidden_dim : 3 * hidden_dim] = 1  # the forget gate

    def forward(
        self,
        inputs: Float[Tensor, "row dim"],
        packing: Packing,
        mask: Float[Tensor, "segment out"] | None,
    ) -> Float[Tensor, "row out"]:
        start = inputs.new_zeros(packing.sizes[0], self.from_output.in_features)
        layer = Direction(self.backwards, self.from_input, self.from_output, start, start, mask)
        [outputs] = run_directions(self.cell, packing.sizes, inputs, [layer])
        return outputs if mask is None else outputs * mask[packing.ranks]
