"""The sentence encoder of Lee et al. (2017): one bidirectional LSTM with coupled gates."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from elmo_bench.nn.init import orthogonal_blocks_
from elmo_bench.nn.packed import Direction, Packing, run_directions


class CoupledCell:
    """c = (1 - i) * c + i * tanh(j),  output = o * tanh(c). Blocks in order: j, i, o."""

    compiled = "coupled"
    blocks = recurrent_blocks = 3
    cell_blocks = 2

    def advance(self, gates: Tensor, before: Tensor, cell: Tensor, output: Tensor) -> None:
        units = cell.shape[1]
        j = gates[:, :units].tanh_()
        i, o = gates[:, units:].sigmoid_().chunk(2, dim=1)
        torch.lerp(before, j, i, out=cell)
        torch.tanh(cell, out=output).mul_(o)

    def slopes(
        self, gates: Tensor, before: Tensor, cells: Tensor
    ) -> tuple[list[Tensor], Tensor, Tensor]:
        j, i, o = gates.chunk(3, dim=1)
        squashed = cells.tanh()
        by_gate = [i * (1 - j * j), (j - before) * i * (1 - i), squashed * o * (1 - o)]
        return by_gate, o * (1 - squashed * squashed), 1 - i


class CoupledBiLstm(nn.Module):
    """A forward and a backward layer in parallel, each with a learned initial state.

    Args:
        input_dim: Size of the inputs.
        hidden_dim: Units per direction.
        dropout: On the output that is fed back, with one mask for all steps of a sequence.
    """

    def __init__(self, input_dim: int, hidden_dim: int, dropout: float) -> None:
        super().__init__()
        self.dim = 2 * hidden_dim
        self.directions = nn.ModuleList(
            _Direction(input_dim, hidden_dim, dropout, backwards) for backwards in (False, True)
        )

    def forward(
        self, inputs: Float[Tensor, "row dim"], packing: Packing
    ) -> Float[Tensor, "row out"]:
        directions = [direction(packing.sizes[0]) for direction in self.directions]
        outputs = run_directions(CoupledCell(), packing.sizes, inputs, directions)
        return torch.cat(outputs, dim=1)


class _Direction(nn.Module):
    def __init__(self, input_dim: int, hidden_dim: int, dropout: float, backwards: bool) -> None:
        super().__init__()
        self.backwards = backwards
        self.dropout = nn.Dropout(dropout)
        self.from_input = nn.Linear(input_dim, 3 * hidden_dim)
        self.from_output = nn.Linear(hidden_dim, 3 * hidden_dim, bias=False)
        # As in the authors' code, where only the recurrent matrix is orthogonal.
        bound = (6 / (1 + hidden_dim)) ** 0.5
        start = torch.empty(2, hidden_dim).uniform_(-bound, bound)  # output and cell state
        self.start = nn.Parameter(start)
        nn.init.xavier_uniform_(self.from_input.weight)
        orthogonal_blocks_(self.from_output.weight, hidden_dim)
        nn.init.zeros_(self.from_input.bias)

    def forward(self, num_sequences: int) -> Direction:
        """The layer for a batch: its first states, and its dropout mask in training."""
        output, cell = self.start.unsqueeze(1).expand(-1, num_sequences, -1)
        mask = None
        if self.training and self.dropout.p:
            mask = self.dropout(torch.ones_like(output))
        return Direction(self.backwards, self.from_input, self.from_output, output, cell, mask)
