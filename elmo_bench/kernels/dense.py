"""Linear layers and the loss of a softmax: compiled or, where that cannot run, PyTorch's."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from elmo_bench.kernels.compiled import Kernel, address, fits, load_kernel


class Linear(nn.Linear):
    """PyTorch's layer for matrices; compiled, a row's result depends on that row alone."""

    def forward(self, inputs: Float[Tensor, "row in"]) -> Float[Tensor, "row out"]:
        return linear(inputs, self.weight, self.bias)


def linear(
    inputs: Float[Tensor, "row in"],
    weight: Float[Tensor, "out in"],
    bias: Float[Tensor, " out"] | None = None,
) -> Float[Tensor, "row out"]:
    """Compute inputs @ weight.T + bias; compiled, a row's result depends on that row alone."""
    kernel = load_kernel() if fits(inputs, weight) else None
    if kernel is None:
        return functional.linear(inputs, weight, bias)
    outputs: Tensor = _Linear.apply(kernel, inputs, weight, bias)
    return outputs


def cross_entropy(
    hidden: Float[Tensor, "row dim"],
    weight: Float[Tensor, "class dim"],
    bias: Float[Tensor, " class"],
    targets: Int[Tensor, " row"],
) -> Float[Tensor, " row"]:
    """The cross entropy of each row, whose logits are hidden @ weight.T + bias."""
    kernel = load_kernel() if fits(hidden, weight) else None
    if kernel is None:
        logits = functional.linear(hidden, weight, bias)
        return functional.cross_entropy(logits, targets, reduction="none")
    losses: Tensor = _CrossEntropy.apply(kernel, hidden, weight, bias, targets)
    return losses


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, kernel: Kernel, inputs: Tensor, weight: Tensor, bias: Tensor | None
    ) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        ctx.kernel, ctx.has_bias = kernel, bias is not None
        return kernel.product(inputs, kernel.pack(weight, transpose=True), len(weight), bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        inputs, weight = ctx.saved_tensors
        kernel: Kernel = ctx.kernel
        d_inputs = None
        if ctx.needs_input_grad[1]:
            d_inputs = kernel.product(gradient, kernel.pack(weight), weight.shape[1])
        d_weight, d_bias = kernel.transposed_product(gradient, inputs)
        return None, d_inputs, d_weight, d_bias if ctx.has_bias else None


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, kernel: Kernel, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor
    ) -> Tensor:
        hidden, bias, targets = hidden.contiguous(), bias.contiguous(), targets.contiguous()
        losses, packed = hidden.new_empty(len(hidden)), kernel.pack(weight, transpose=True)
        keep = any(ctx.needs_input_grad)
        slopes = hidden.new_empty(len(hidden), len(weight)) if keep else None
        kernel.library.cross_entropy(
            *(address(hidden), *hidden.shape, address(packed), address(bias), address(targets)),
            *(address(losses), address(slopes), len(weight), torch.get_num_threads()),
        )
        ctx.save_for_backward(hidden, weight)
        ctx.kernel, ctx.slopes = kernel, slopes
        return losses

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        hidden, weight = ctx.saved_tensors
        kernel: Kernel = ctx.kernel
        # The rows' gradients are factors of the small matrices, not of the large one.
        factors = gradient.contiguous()
        d_hidden = None
        if ctx.needs_input_grad[1]:
            d_hidden = kernel.product(ctx.slopes, kernel.pack(weight), weight.shape[1])
            d_hidden *= factors[:, None]
        d_weight, d_bias = kernel.transposed_product(
            ctx.slopes, hidden * factors[:, None], weights=factors
        )
        return None, d_hidden, d_weight, d_bias, None
