"""The maximum of convolutions over a word's characters, with a backward pass for training.

The gradient of a maximum goes to one window per word and filter. Autograd would propagate zeros
through all others; visiting only the chosen windows takes a quarter of the time.
"""

from typing import Any

import torch
from torch import Tensor

from elmo_bench.bilm.kernels.compiled import Kernel


class WindowMax(torch.autograd.Function):
    """(chars (word, char, dim), kernels (filter, width * dim) ...) -> maxima (word, filters).

    Windows start at one of the first `length` characters, or one after them; that last window sees
    only padding, as all further ones would.
    """

    @staticmethod
    def forward(
        ctx: Any, compiled: Kernel, length: int, max_chars: int, chars: Tensor, *kernels: Tensor
    ) -> Tensor:
        num_words, num_chars, dim = chars.shape
        maxima, places = [], []
        for kernel in kernels:
            size = kernel.shape[1]
            num_windows = min(length + 1, max_chars - size // dim + 1)
            strides = (num_chars * dim, dim, 1)
            windows = chars.as_strided((num_words, num_windows, size), strides)
            scores = torch.mm(windows.reshape(-1, size), kernel.t())
            best, where = compiled.window_max(scores.view(num_words, num_windows, -1))
            maxima.append(best)
            places.append(where)
        ctx.save_for_backward(chars, *kernels)
        ctx.compiled, ctx.places = compiled, places
        return torch.cat(maxima, dim=1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        chars, *kernels = ctx.saved_tensors
        chars_gradient = torch.zeros_like(chars)
        kernel_gradients = [torch.zeros_like(kernel) for kernel in kernels]
        parts = gradients[0].split([len(kernel) for kernel in kernels], dim=1)
        for part, where, kernel, gradient in zip(
            parts, ctx.places, kernels, kernel_gradients, strict=True
        ):
            ctx.compiled.window_max_backward(
                part.contiguous(), where, chars, kernel, chars_gradient, gradient
            )
        return (None, None, None, chars_gradient, *kernel_gradients)
