from contextlib import nullcontext

import pytest
import torch

from elmo_bench.bilm.token_encoders import CharCnnEncoder
from elmo_bench.kernels.compiled import load_kernel, without_kernel

WORDS = ["a", "tomorrow", "aaaaaaaa", "ab", "extraordinarily-long-word", "of", "<S>"]


@pytest.mark.skipif(load_kernel() is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("max_chars", [12, 50])
def test_the_compiled_maximum_has_the_values_and_gradients_of_the_plain_one(activation, max_chars):
    torch.manual_seed(1)
    encoder = CharCnnEncoder(8, 4, [[1, 4], [3, 6], [7, 5]], 1, activation, max_chars)
    ids = encoder.ids(WORDS)
    weights = torch.randn(len(WORDS), 8)
    results = []
    for context in (nullcontext(), without_kernel()):
        encoder.zero_grad()
        with context:
            vectors = encoder(ids)
        (vectors * weights).sum().backward()
        results.append([vectors.detach(), *(p.grad.clone() for p in encoder.parameters())])
    for compiled, plain in zip(*results, strict=True):
        torch.testing.assert_close(compiled, plain, rtol=1e-4, atol=1e-5)
