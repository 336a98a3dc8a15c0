"""Recurrent layers over packed sequences: compiled, or with hand-written gradients in PyTorch.

Sequences are sorted by length and laid out step by step, so there is no padding. Matrix products
that need no loop are moved out of it: the input products run before the steps, and the weight
gradients after them. A cell type defines only its elementwise part.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from elmo_bench.kernels.compiled import fits, load_kernel
from elmo_bench.kernels.recurrence import Operands, Reading, run_layers


class Packing:
    """The order in which padded sequences are packed: step by step, the longest sequence first."""

    def __init__(self, mask: Bool[Tensor, "segment time"]) -> None:
        self.shape = mask.shape
        order = mask.sum(dim=1).argsort(descending=True, stable=True)
        self.times, self.ranks = mask[order].T.nonzero(as_tuple=True)
        self.segments = order[self.ranks]  # of each packed row, as `times` and `ranks`
        self.sizes = [size for size in mask.sum(dim=0).tolist() if size]  # rows of each step

    def pack(
        self, padded: Float[Tensor, "segment time dim"], rows: Int[Tensor, " batch"] | None = None
    ) -> Float[Tensor, "row dim"]:
        """Pack a padded tensor; `rows`, if given, is each segment's row in it."""
        segments = self.segments if rows is None else rows[self.segments]
        return padded[segments, self.times]

    def unpack(self, packed: Float[Tensor, "row dim"]) -> Float[Tensor, "segment time dim"]:
        """Unpack into a padded tensor; padding is zero."""
        padded = packed.new_zeros(*self.shape, packed.shape[1])
        return padded.index_put((self.segments, self.times), packed)


@runtime_checkable
class Cell(Protocol):
    """The elementwise part of a recurrent cell.

    Its gates are blocks of one value per unit, concatenated in this order: those through which the
    gradient of the cell state flows, then those through which the gradient of the output flows.
    """

    compiled: str  # the name of the compiled form in kernels/recurrence.py
    blocks: int
    cell_blocks: int  # the leading blocks, which the cell state depends on
    recurrent_blocks: int  # the leading blocks, which the previous output feeds

    def advance(self, gates: Tensor, before: Tensor, cell: Tensor, output: Tensor) -> None:
        """Run one step: turn gates into activations in place, and fill cell state and output."""

    def slopes(
        self, gates: Tensor, before: Tensor, cells: Tensor
    ) -> tuple[list[Tensor], Tensor, Tensor]:
        """Derivatives at all steps, from activations and the cell states before and after.

        They are those of the cell state or output with respect to each gate before its activation,
        of the output with respect to the cell state, and of the cell state with respect to the
        previous one.
        """


class _Step(NamedTuple):
    rows: slice  # of the packed tensors
    source: slice  # rows of the previous step that continue
    num_continuing: int  # how many; the other rows start at this step


def _steps(sizes: Sequence[int], backwards: bool) -> list[_Step]:
    """The steps in reading order."""
    ends = list(accumulate(sizes))
    rows = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    if backwards:
        rows.reverse()
    steps, before = [], slice(0, 0)
    for row in rows:
        num_continuing = min(row.stop - row.start, before.stop - before.start)
        steps.append(_Step(row, slice(before.start, before.start + num_continuing), num_continuing))
        before = row
    return steps


class Direction(NamedTuple):
    """A recurrent layer that reads packed sequences in one direction."""

    backwards: bool
    from_input: nn.Linear  # to all gates
    from_output: nn.Linear  # to the gates that the previous output feeds
    first_output: Float[Tensor, "sequence unit"]
    first_cell: Float[Tensor, "sequence unit"]
    mask: Float[Tensor, "sequence unit"] | None  # factor of the output that is fed back


def run_directions(
    cell: Cell,
    sizes: Sequence[int],
    inputs: Float[Tensor, "row dim"],
    directions: Sequence[Direction],
) -> list[Float[Tensor, "row unit"]]:
    """Outputs of layers that read the same inputs: compiled and at once, or one after the other."""
    kernel = load_kernel() if fits(inputs) else None
    operands = [
        Operands(
            *(inputs, d.from_input.weight, d.from_input.bias, d.from_output.weight),
            *(None, d.first_output, d.first_cell, d.mask),
        )
        for d in directions
    ]
    if kernel is not None:
        readings = [Reading(cell.compiled, sizes, d.backwards) for d in directions]
        return [result.outputs for result in run_layers(kernel, readings, operands)]
    return [
        Recurrence.apply(cell, list(sizes), d.backwards, *given[:4], *given[5:])
        for d, given in zip(directions, operands, strict=True)
    ]


class Recurrence(Function):
    """A recurrent layer: inputs of all packed rows -> outputs of all packed rows.

    Arguments: the cell type, the number of rows per step, whether to read backwards, inputs (row,
    in), input weight (blocks * unit, in), its bias, recurrent weight (recurrent blocks * unit,
    unit), the initial output and cell state (sequence, unit; longest first), and a factor applied
    to the output before it is fed back (sequence, unit), or None.
    """

    @staticmethod
    def forward(
        ctx: Any,
        kind: Cell,
        sizes: list[int],
        backwards: bool,
        inputs: Tensor,
        input_weight: Tensor,
        bias: Tensor,
        recurrent_weight: Tensor,
        hidden: Tensor,
        cell: Tensor,
        mask: Tensor | None,
    ) -> Tensor:
        gates = torch.addmm(bias, inputs, input_weight.t())
        recurrent = gates[:, : len(recurrent_weight)]
        outputs = gates.new_empty(len(gates), hidden.shape[1])
        cells, outputs_before = torch.empty_like(outputs), torch.empty_like(outputs)
        cells_before = torch.empty_like(outputs)
        for rows, source, num_continuing in _steps(sizes, backwards):
            size = rows.stop - rows.start
            for store, values, start in (
                (outputs_before[rows], outputs, hidden),
                (cells_before[rows], cells, cell),
            ):
                store[:num_continuing] = values[source]
                store[num_continuing:] = start[num_continuing:size]
            if mask is not None:
                outputs_before[rows].mul_(mask[:size])
            recurrent[rows].addmm_(outputs_before[rows], recurrent_weight.t())
            kind.advance(gates[rows], cells_before[rows], cells[rows], outputs[rows])
        ctx.save_for_backward(
            inputs, input_weight, recurrent_weight, mask, gates, cells, outputs_before, cells_before
        )
        ctx.settings = kind, sizes, backwards
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, output_gradient: Tensor) -> tuple[Tensor | None, ...]:
        (inputs, input_weight, recurrent_weight, mask, *states) = ctx.saved_tensors
        gates, cells, outputs_before, cells_before = states
        kind, sizes, backwards = ctx.settings
        slopes, output_slope, cell_slope = kind.slopes(gates, cells_before, cells)
        gradient = torch.stack(slopes, dim=1)  # (row, block, unit), slopes until their step
        by_gate = gradient.flatten(1)
        recurrent = by_gate[:, : len(recurrent_weight)]
        d_outputs = output_gradient.clone()
        d_hidden = gates.new_zeros(sizes[0], d_outputs.shape[1])
        d_cell = torch.zeros_like(d_hidden)
        d_before, d_cell_before, fed_back = d_hidden, d_cell, 0
        for rows, _, num_continuing in reversed(_steps(sizes, backwards)):
            size = rows.stop - rows.start
            d_output = d_outputs[rows]
            d_output[:fed_back] += d_before[:fed_back]
            d_state = output_slope[rows].mul_(d_output)
            d_state[:fed_back] += d_cell_before[:fed_back]
            gradient[rows, : kind.cell_blocks] *= d_state.unsqueeze(1)
            gradient[rows, kind.cell_blocks :] *= d_output.unsqueeze(1)
            d_before = recurrent[rows] @ recurrent_weight
            if mask is not None:
                d_before *= mask[:size]
            d_cell_before = cell_slope[rows].mul_(d_state)
            d_hidden[num_continuing:size] = d_before[num_continuing:]
            d_cell[num_continuing:size] = d_cell_before[num_continuing:]
            fed_back = num_continuing
        return (
            *(None, None, None),
            by_gate @ input_weight if ctx.needs_input_grad[3] else None,
            by_gate.t() @ inputs,
            by_gate.sum(dim=0),
            recurrent.t() @ outputs_before,
            d_hidden,
            d_cell,
            None,
        )
