"""An LSTM layer of both directions for devices without the compiled kernel, with few launches.

Both directions are one batched product. As in the compiled layer, products that need no loop stay
out of it in both passes: the input products run before the steps, and the weight gradients after
them. The elementwise part of a step is one function, which becomes one launch where torch.compile
can make it one.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo_bench.kernels.recurrence import Operands


class BatchedTensors(NamedTuple):
    """What a layer reads, with one entry per direction; `bias` includes the forget gate's."""

    inputs: Float[Tensor, "direction row dim"]
    input_weight: Float[Tensor, "direction gate dim"]
    bias: Float[Tensor, "direction gate"]
    recurrent_weight: Float[Tensor, "direction gate projection"]
    projection_weight: Float[Tensor, "direction projection hidden"]
    hidden: Float[Tensor, "direction batch projection"]
    cell: Float[Tensor, "direction batch hidden"]


def run_batched(
    operands: Sequence[Operands],
    sizes: Sequence[int],
    cell_clip: float,
    projection_clip: float,
) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Run one layer of each direction on its packed sequences; return outputs and last states.

    Under autocast all products and states are in the lower precision, as in cuDNN's LSTM.

    Args:
        operands: Of each direction; all have the same shapes.
        sizes: Rows per step.
        cell_clip: Bound of the cell; infinity for none.
        projection_clip: Bound of the output.
    """
    by_kind = zip(*(given[: len(BatchedTensors._fields)] for given in operands), strict=True)
    tensors = BatchedTensors(*(torch.stack(same) for same in by_kind))
    device, kept = tensors.inputs.device.type, tensors.cell.dtype
    if torch.is_autocast_enabled(device):
        lower = torch.get_autocast_dtype(device)
        tensors = BatchedTensors(*(tensor.to(lower) for tensor in tensors))
    with torch.autocast(device, enabled=False):
        outputs, hidden, cell = BatchedLayer.apply(
            list(sizes), (cell_clip, projection_clip), *tensors
        )
    return list(zip(outputs, hidden.to(kept), cell.to(kept), strict=True))


class BatchedLayer(torch.autograd.Function):
    """(sizes, clips, tensors) -> outputs (direction, row, projection) and last states."""

    @staticmethod
    def forward(
        ctx: Any, sizes: list[int], clips: tuple[float, float], *given: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        tensors = BatchedTensors(*given)
        hidden, cell = tensors.hidden, tensors.cell
        recurrent = tensors.recurrent_weight.transpose(1, 2)
        projection = tensors.projection_weight.transpose(1, 2)
        advance = _compiled(_advance, hidden.device.type)
        from_input = tensors.input_weight.transpose(1, 2)
        gates = torch.baddbmm(tensors.bias[:, None], tensors.inputs, from_input)
        cells = gates.new_empty(*gates.shape[:2], cell.shape[2])
        activations = torch.empty_like(cells)
        outputs = gates.new_empty(*gates.shape[:2], hidden.shape[2])
        last_hidden, last_cell = torch.empty_like(hidden), torch.empty_like(cell)
        for rows, size, left in zip(_steps(sizes), sizes, [*sizes[1:], 0], strict=True):
            step = gates[:, rows].baddbmm_(hidden[:, :size], recurrent)
            advance(step, cell[:, :size], cells[:, rows], activations[:, rows], clips[0])
            hidden, cell = outputs[:, rows], cells[:, rows]
            torch.bmm(activations[:, rows], projection, out=hidden)
            if clips[1] < inf:
                hidden.clamp_(-clips[1], clips[1])
            if left < size:
                last_hidden[:, left:size] = hidden[:, left:]
                last_cell[:, left:size] = cell[:, left:]
        ctx.save_for_backward(*tensors, gates, cells, activations, outputs)
        ctx.settings = sizes, clips
        return outputs, last_hidden, last_cell

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        *given, gates, cells, activations, outputs = ctx.saved_tensors
        tensors, (sizes, clips) = BatchedTensors(*given), ctx.settings
        steps, retreat = _steps(sizes), _compiled(_retreat, gates.device.type)
        before = _previous(tensors.cell, cells, sizes)
        slopes, of_cell = _slopes(gates, before, cells, clips[0])
        forget = gates.unflatten(2, (4, -1))[:, :, 2]
        d_outputs, d_hidden, d_cell = (gradient.clone() for gradient in gradients)
        inside = outputs.abs() < clips[1]
        for number, rows in reversed(list(enumerate(steps))):
            size = sizes[number]
            d_output = d_outputs[:, rows].add_(d_hidden[:, :size]).mul_(inside[:, rows])
            d_activation = torch.bmm(d_output, tensors.projection_weight)
            step = slopes[:, rows], of_cell[:, rows], forget[:, rows]
            retreat(d_activation, d_cell[:, :size], *step)
            d_gates = slopes[:, rows].flatten(2)
            torch.bmm(d_gates, tensors.recurrent_weight, out=d_hidden[:, :size])
        by_gate = slopes.flatten(2)
        across = by_gate.transpose(1, 2)
        return (
            *(None, None),
            torch.bmm(by_gate, tensors.input_weight) if ctx.needs_input_grad[2] else None,
            torch.bmm(across, tensors.inputs),
            by_gate.sum(dim=1),
            torch.bmm(across, _previous(tensors.hidden, outputs, sizes)),
            torch.bmm(d_outputs.transpose(1, 2), activations),
            d_hidden,
            d_cell,
        )


def _advance(gates: Tensor, before: Tensor, cell: Tensor, output: Tensor, clip: float) -> None:
    """One step: gates i, j, f, o become activations; `cell` and `output` are written."""
    units = cell.shape[2]
    new = gates[:, :, :units].sigmoid_()
    candidate = gates[:, :, units : 2 * units].tanh_()
    forget, out = gates[:, :, 2 * units :].sigmoid_().chunk(2, dim=2)
    cell.copy_((forget * before).addcmul_(new, candidate).clamp_(-clip, clip))
    output.copy_(cell.tanh().mul_(out))


def _slopes(
    gates: Tensor, before: Tensor, cells: Tensor, clip: float
) -> tuple[Float[Tensor, "direction row 4 hidden"], Float[Tensor, "direction row 2 hidden"]]:
    """Derivatives at all steps.

    The first are those of the cell or the output by each gate before its activation; the second
    those of the output by the cell, and 1 where the cell was not clipped.
    """
    new, candidate, forget, out = gates.chunk(4, dim=2)
    squashed = cells.tanh()
    by_gate = [
        candidate * new * (1 - new),
        new * (1 - candidate * candidate),
        before * forget * (1 - forget),
        squashed * out * (1 - out),
    ]
    of_cell = [out * (1 - squashed * squashed), (cells.abs() < clip).to(cells.dtype)]
    return torch.stack(by_gate, dim=2), torch.stack(of_cell, dim=2)


def _retreat(
    d_output: Tensor, d_cell: Tensor, slopes: Tensor, of_cell: Tensor, forget: Tensor
) -> None:
    """One step back: `slopes` become the gates' gradients, `d_cell` the previous cell's."""
    d_state = torch.addcmul(d_cell, d_output, of_cell[:, :, 0]).mul_(of_cell[:, :, 1])
    slopes[:, :, :3].mul_(d_state[:, :, None])
    slopes[:, :, 3].mul_(d_output)
    d_cell.copy_(d_state.mul_(forget))


def _previous(first: Tensor, values: Tensor, sizes: Sequence[int]) -> Tensor:
    """The state before each packed row, from the state before the first step and all later ones."""
    states = [first, *(values[:, rows] for rows in _steps(sizes))]
    parts = [state[:, :size] for state, size in zip(states, sizes, strict=False)]
    return torch.cat(parts, dim=1)


def _steps(sizes: Sequence[int]) -> list[slice]:
    """The packed rows of each step."""
    ends = list(accumulate(sizes))
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


@cache
def _compiled(function: Callable[..., None], device: str) -> Callable[..., None]:
    """The function as one launch, on devices for which torch.compile has a compiler."""
    if device != "cuda" or find_spec("triton") is None:
        return function
    return torch.compile(function, dynamic=True)
