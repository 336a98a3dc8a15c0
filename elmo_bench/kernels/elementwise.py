"""Elementwise functions of the character CNN: compiled or, where that cannot run, PyTorch's."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo_bench.kernels.compiled import Kernel, address, fits, load_kernel


def highway(
    carry: Float[Tensor, "word dim"],
    transform: Float[Tensor, "word dim"],
    inputs: Float[Tensor, "word dim"],
) -> Float[Tensor, "word dim"]:
    """Compute g * relu(transform) + (1 - g) * inputs, with g = sigmoid(carry)."""
    kernel = load_kernel() if fits(inputs, carry, transform) else None
    if kernel is None:
        return torch.lerp(inputs, torch.relu(transform), torch.sigmoid(carry))
    outputs: Tensor = _Highway.apply(kernel, carry, transform, inputs)
    return outputs


def tanh(inputs: Float[Tensor, "word dim"]) -> Float[Tensor, "word dim"]:
    """Compute the hyperbolic tangent."""
    kernel = load_kernel() if fits(inputs) else None
    if kernel is None:
        return torch.tanh(inputs)
    outputs: Tensor = _Tanh.apply(kernel, inputs)
    return outputs


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
