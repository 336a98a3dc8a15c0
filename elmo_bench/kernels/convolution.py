"""The maximum of convolutions over a word's characters, in compiled code."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo_bench.kernels.compiled import Kernel, address, addresses


class WindowMax(torch.autograd.Function):
    """(ids, their lengths, table, kernels (filter, width * dim) ...) -> maxima (word, filters).

    Windows start at each character of a word and once after them; that last window sees only
    padding, as all further ones would.
    """

    @staticmethod
    def forward(
        ctx: Any,
        kernel: Kernel,
        ids: Int[Tensor, "word char"],
        lengths: Int[Tensor, " word"],
        table: Float[Tensor, "id dim"],
        *kernels: Float[Tensor, "_ _"],
    ) -> Float[Tensor, "word filter"]:
        ids, lengths, table = ids.contiguous(), lengths.contiguous(), table.contiguous()
        words, sizes = (*ids.shape, table.shape[1]), _sizes(kernels, table.shape[1])
        best = table.new_empty(len(ids), int(sizes[1].sum()))
        where = torch.empty(best.shape, dtype=torch.int32)
        packed = [kernel.pack(weight, transpose=True) for weight in kernels]
        kernel.library.convolve(
            *(*map(address, (ids, lengths, table)), *words),
            *(addresses(packed), *map(address, sizes), len(kernels)),
            *(address(best), address(where), torch.get_num_threads()),
        )
        ctx.save_for_backward(ids, lengths, table, where, *kernels)
        ctx.kernel = kernel
        return best

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        ids, lengths, table, where, *kernels = ctx.saved_tensors
        library, gradient = ctx.kernel.library, gradients[0].contiguous()
        sizes, weights = _sizes(kernels, table.shape[1]), [weight.flatten() for weight in kernels]
        counts = [table.numel(), *(len(weight) for weight in weights)]
        result = table.new_empty(sum(counts))
        buffer = table.new_empty(library.convolution_groups() * sum(counts))
        joined = torch.cat(weights)
        library.convolve_backward(
            *(*map(address, (ids, lengths, table)), *ids.shape, table.shape[1]),
            *(address(joined), *map(address, sizes), len(kernels)),
            *(address(gradient), address(where), counts[0], sum(counts[1:])),
            *(address(buffer), address(result), torch.get_num_threads()),
        )
        parts = zip(result.split(counts), (table, *kernels), strict=True)
        return (None, None, None, *(part.view(like.shape) for part, like in parts))


def _sizes(kernels: tuple[Tensor, ...] | list[Tensor], dim: int) -> tuple[Tensor, Tensor]:
    """Widths in characters and numbers of filters."""
    widths = torch.tensor([kernel.shape[1] // dim for kernel in kernels])
    return widths, torch.tensor([len(kernel) for kernel in kernels])
