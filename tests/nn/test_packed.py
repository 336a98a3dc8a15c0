from contextlib import nullcontext

import pytest
import torch
from torch import nn

from elmo_bench.kernels.compiled import load_kernel, without_kernel
from elmo_bench.nn.packed import Direction, Packing, run_directions
from elmo_bench.tasks.coref.encoder import CoupledCell
from elmo_bench.tasks.srl.encoder import HighwayCell

UNITS, DIM = 37, 20


@pytest.mark.skipif(load_kernel() is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("cell", [HighwayCell(), CoupledCell()])
def test_compiled_layers_have_the_values_and_gradients_of_the_plain_ones(cell, threads):
    torch.manual_seed(0)
    lengths = torch.randint(1, 12, (40,))
    packing = Packing(torch.arange(12) < lengths[:, None])
    inputs = torch.randn(int(lengths.sum()), DIM, requires_grad=True)
    directions, sources = [], [inputs]
    for backwards in (False, True):
        layers = (
            nn.Linear(DIM, cell.blocks * UNITS),
            nn.Linear(UNITS, cell.recurrent_blocks * UNITS, bias=False),
        )
        states = [torch.randn(40, UNITS, requires_grad=True) for _ in range(2)]
        mask = 2.0 * torch.randint(2, (40, UNITS)) if backwards else None
        directions.append(Direction(backwards, *layers, *states, mask))
        sources += [*states, *layers[0].parameters(), *layers[1].parameters()]
    results, before = [], torch.get_num_threads()
    for context in (nullcontext(), without_kernel()):
        torch.set_num_threads(threads)
        with context:
            outputs = run_directions(cell, packing.sizes, inputs, directions)
        loss = sum(output.sin().sum() for output in outputs)
        results.append([*outputs, *torch.autograd.grad(loss, sources)])
        torch.set_num_threads(before)
    for compiled, plain in zip(*results, strict=True):
        torch.testing.assert_close(compiled, plain, rtol=1e-4, atol=2e-5)
