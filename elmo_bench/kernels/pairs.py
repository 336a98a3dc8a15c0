"""A linear layer on the products of pairs of vectors, in compiled code."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo_bench.kernels.compiled import Kernel, address


class PairProducts(torch.autograd.Function):
    """weight @ (vectors[i] * vectors[j]) + start for the pairs (i, j), without storing products."""

    @staticmethod
    def forward(
        ctx: Any,
        kernel: Kernel,
        vectors: Float[Tensor, "item dim"],
        weight: Float[Tensor, "out dim"],
        start: Float[Tensor, "pair out"],
        left: Int[Tensor, " pair"],
        right: Int[Tensor, " pair"],
    ) -> Float[Tensor, "pair out"]:
        vectors, left, right = vectors.contiguous(), left.contiguous(), right.contiguous()
        result, packed = start.clone(memory_format=torch.contiguous_format), kernel.pack(weight.t())
        kernel.library.pair_products(
            *(address(vectors), vectors.shape[1], address(left), address(right), len(left)),
            *(address(packed), address(result), len(weight), torch.get_num_threads()),
        )
        ctx.save_for_backward(vectors, weight, left, right)
        ctx.kernel = kernel
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        vectors, weight, left, right = ctx.saved_tensors
        kernel: Kernel = ctx.kernel
        gradient, packed = gradient.contiguous(), kernel.pack(weight)
        # Without pairs, the kernel writes nothing.
        d_weight, d_vectors = torch.zeros(weight.shape), torch.zeros_like(vectors)
        kernel.library.pair_products_backward(
            *(address(vectors), vectors.shape[1], address(left), address(right), len(left)),
            *(address(gradient), len(weight), address(packed), address(d_weight)),
            *(address(d_vectors), torch.get_num_threads()),
        )
        return None, d_vectors, d_weight, gradient, None, None
