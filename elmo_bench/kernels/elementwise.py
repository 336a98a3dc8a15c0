"""Elementwise functions: compiled or, where that cannot run, PyTorch's."""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from elmo_bench.kernels.compiled import Kernel, address, fits, load_kernel


def highway(
    carry: Float[Tensor, "word dim"],
    transform: Float[Tensor, "word dim"],
    inputs: Float[Tensor, "word dim"],
) -> Float[Tensor, "word dim"]:
    """Compute g * relu(transform) + (1 - g) * inputs, with g = sigmoid(carry)."""
    kernel = load_kernel() if fits(inputs, carry, transform) else None
    if kernel is None:
        # Autocast gives both in a lower precision than the inputs, and lerp takes one dtype.
        gate, new = torch.sigmoid(carry).to(inputs.dtype), torch.relu(transform).to(inputs.dtype)
        return torch.lerp(inputs, new, gate)
    outputs: Tensor = _Highway.apply(kernel, carry, transform, inputs)
    return outputs


def tanh(inputs: Float[Tensor, "word dim"]) -> Float[Tensor, "word dim"]:
    """Compute the hyperbolic tangent."""
    kernel = load_kernel() if fits(inputs) else None
    if kernel is None:
        return torch.tanh(inputs)
    outputs: Tensor = _Tanh.apply(kernel, inputs)
    return outputs


def dropout(
    inputs: Float[Tensor, "*shape"], rate: float, relu: bool = False
) -> Float[Tensor, "*shape"]:
    """Dropout of the inputs, or of max(inputs, 0).

    Drawing takes most of the time of PyTorch's dropout on a CPU. There, 16 bits are drawn for an
    element, so the rate is the nearest multiple of 2 ** -16.
    """
    if inputs.device.type != "cpu":
        return functional.dropout(inputs.relu() if relu else inputs, rate)
    drawn = torch.empty((inputs.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    numbers = drawn.view(torch.uint16)[: inputs.numel()].view(inputs.shape)
    outputs: Tensor = _Dropout.apply(inputs, numbers, round(rate * 2**16), relu)
    return outputs


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, drawn: Tensor, least: int, relu: bool) -> Tensor:
        inputs = inputs.contiguous()
        bound = torch.finfo(torch.float32).tiny if relu else -math.inf
        ctx.settings = least, bound, 2**16 / (2**16 - least)
        ctx.save_for_backward(inputs, drawn)
        return _dropped(inputs, inputs, drawn, *ctx.settings)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        inputs, drawn = ctx.saved_tensors
        return _dropped(inputs, gradient, drawn, *ctx.settings), None, None, None


def _dropped(
    inputs: Tensor, values: Tensor, drawn: Tensor, least: int, bound: float, scale: float
) -> Tensor:
    kernel = load_kernel() if fits(inputs, values) else None
    if kernel is None:
        keep = (drawn.int() >= least) & ~(inputs < bound)
        return torch.where(keep, values * scale, 0.0)
    values = values.contiguous()
    result = torch.empty_like(inputs)
    where = map(address, (inputs, values, drawn, result))
    kernel.library.dropout(*where, least, result.numel(), torch.get_num_threads(), bound, scale)
    return result


class _Highway(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, kernel: Kernel, *tensors: Tensor) -> Tensor:
        tensors = tuple(tensor.contiguous() for tensor in tensors)
        result = torch.empty_like(tensors[0])
        where = [*map(address, tensors), address(result)]
        kernel.library.highway(*where, result.numel(), torch.get_num_threads())
        ctx.save_for_backward(*tensors)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        carry, transform, inputs = ctx.saved_tensors
        gate = torch.sigmoid(carry)
        by_gate = gradient * gate
        d_carry = (torch.relu(transform) - inputs).mul_(by_gate).mul_(1 - gate)
        return None, d_carry, by_gate * (transform > 0), gradient - by_gate


class _Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, kernel: Kernel, inputs: Tensor) -> Tensor:
        inputs = inputs.contiguous()
        result = torch.empty_like(inputs)
        where = address(inputs), address(result)
        kernel.library.hyperbolic_tangent(*where, result.numel(), torch.get_num_threads())
        ctx.save_for_backward(result)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (result,) = ctx.saved_tensors
        return None, gradient * (1 - result * result)
