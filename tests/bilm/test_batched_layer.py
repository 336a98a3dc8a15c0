from functools import cache, partial
from math import inf

import pytest
import torch

from elmo_bench.bilm import batched_layer, char_windows
from elmo_bench.bilm.batched_layer import BatchedTensors
from elmo_bench.bilm.char_windows import window_maxima
from elmo_bench.bilm.characters import PAD, char_ids
from elmo_bench.kernels.recurrence import Operands

UNITS, DIM = 5, 3


def run_batched(tensors, sizes, *clips):
    """Both directions, with results stacked."""
    found = batched_layer.run_batched(
        [Operands(*t) for t in zip(*tensors, strict=True)], sizes, *clips
    )
    return [torch.stack(parts) for parts in zip(*found, strict=True)]


def plain(inputs, input_weight, bias, recurrent, projection, hidden, cell, sizes, clips):
    """One direction step by step; autograd differentiates it."""
    outputs, last_hidden, last_cell, start = [], [], [], 0
    for size, left in zip(sizes, [*sizes[1:], 0], strict=True):
        gates = inputs[start : start + size] @ input_weight.t() + bias
        gates = gates + hidden[:size] @ recurrent.t()
        i, j, f, o = gates.chunk(4, dim=1)
        cell = (f.sigmoid() * cell[:size] + i.sigmoid() * j.tanh()).clamp(-clips[0], clips[0])
        hidden = ((o.sigmoid() * cell.tanh()) @ projection.t()).clamp(-clips[1], clips[1])
        outputs.append(hidden)
        last_hidden.insert(0, hidden[left:])
        last_cell.insert(0, cell[left:])
        start += size
    return torch.cat(outputs), torch.cat(last_hidden), torch.cat(last_cell)


@pytest.fixture
def tensors():
    torch.manual_seed(1)
    sizes = [4, 4, 3, 1]
    shapes = [(12, DIM), (4 * UNITS, DIM), (4 * UNITS,), (4 * UNITS, DIM), (DIM, UNITS)]
    shapes += [(4, DIM), (4, UNITS)]
    made = [torch.randn(2, *shape, dtype=torch.float64).requires_grad_() for shape in shapes]
    return sizes, BatchedTensors(*made)


@pytest.mark.parametrize("clips", [(inf, inf), (0.6, 0.5)])
def test_values_and_gradients_are_those_of_the_plain_steps(tensors, clips):
    sizes, given = tensors
    found = run_batched(given, sizes, *clips)
    expected = [plain(*(t[d] for t in given), sizes, clips) for d in range(2)]
    weights = [torch.randn_like(tensor) for tensor in found]
    for result, parts in zip(found, zip(*expected, strict=True), strict=True):
        torch.testing.assert_close(result, torch.stack(parts))
    if clips[0] < inf:  # the bounds are reached, and not everywhere
        for result, clip in ((found[0], clips[1]), (found[2], clips[0])):
            assert 0 < (result.abs() == clip).sum() < result.numel()
    sums = [
        sum((weight * result).sum() for weight, result in zip(weights, results, strict=True))
        for results in (found, [torch.stack(parts) for parts in zip(*expected, strict=True)])
    ]
    for got, wanted in zip(*(torch.autograd.grad(total, given) for total in sums), strict=True):
        torch.testing.assert_close(got, wanted)


def test_without_gradients_it_gives_the_same(tensors):
    sizes, given = tensors
    with torch.no_grad():
        frozen = run_batched(given, sizes, 1.0, 1.0)
    for got, wanted in zip(frozen, run_batched(given, sizes, 1.0, 1.0), strict=True):
        assert got.equal(wanted)


@pytest.mark.slow
def test_the_compiled_elementwise_part_equals_the_plain_one(tensors, monkeypatch):
    sizes, given = tensors
    results = {}
    compiled = cache(partial(torch.compile, dynamic=True))
    for name in ("plain", "compiled"):
        if name == "compiled":
            monkeypatch.setattr(batched_layer, "_compiled", lambda function, _: compiled(function))
        outputs = run_batched(given, sizes, 0.6, 0.5)
        total = sum((output * output).sum() for output in outputs)
        results[name] = [*outputs, *torch.autograd.grad(total, given)]
    for got, wanted in zip(results["compiled"], results["plain"], strict=True):
        torch.testing.assert_close(got, wanted)


def test_window_maxima_are_those_of_all_windows_of_every_filter(monkeypatch):
    monkeypatch.setattr(char_windows, "_GROUP_CHARS", 20)  # several groups of one length
    torch.manual_seed(1)
    # Lengths up to the limit, where the widest filter has no window of padding alone.
    ids = char_ids(["a" * n for n in range(30)] + ["bcd"] * 9 + ["é" * 12], 24)
    chars = torch.randn(int(ids.max()) + 1, 2, dtype=torch.float64).requires_grad_()
    kernels = [
        torch.randn(4, 2 * width, dtype=torch.float64).requires_grad_() for width in (1, 3, 5)
    ]
    found = window_maxima(ids, (ids != PAD).sum(dim=1), chars, kernels)
    flat = chars[ids].flatten(1)
    every = [(flat.unfold(1, k.shape[1], 2) @ k.t()).amax(dim=1) for k in kernels]
    torch.testing.assert_close(found, torch.cat(every, dim=1))
    for got, wanted in zip(
        torch.autograd.grad(found.sum(), [chars, *kernels]),
        torch.autograd.grad(torch.cat(every, dim=1).sum(), [chars, *kernels]),
        strict=True,
    ):
        torch.testing.assert_close(got, wanted)
    assert window_maxima(ids[:0], ids[:0, 0], chars, kernels).shape == (0, 12)
