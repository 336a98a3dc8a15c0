import copy
import subprocess
import sys

import pytest
import torch

from elmo_bench.bilm.lstm import LstmStack
from elmo_bench.kernels import compiled as kernel
from elmo_bench.kernels.recurrence import Operands, Reading, run_layers

requires_kernel = pytest.mark.skipif(kernel.load_kernel() is None, reason="needs a C++ compiler")


def run(stack, inputs, lengths):
    """Outputs, last states and all gradients of a loss that depends on all of them."""
    generator = torch.Generator().manual_seed(1)

    def noise(shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(inputs.dtype)

    state = tuple(noise(part.shape).requires_grad_() for part in stack.new_state(len(inputs)))
    outputs, last = stack(inputs, state, lengths)
    results = [outputs, *last]
    loss = sum((noise(result.shape) * result.sin()).sum() for result in results)
    sources = [inputs, *state, *stack.parameters()]
    return [*results, *torch.autograd.grad(loss, sources)]


@requires_kernel
@pytest.mark.parametrize("lengths", [None, torch.tensor([3, 9, 1, 9, 5])])
@pytest.mark.parametrize("clip", [3.0, 0.2, None])
def test_kernel_has_the_values_and_gradients_of_the_plain_path(clip, lengths):
    torch.manual_seed(1)
    stack = LstmStack(40, 12, 2, clip, clip, True, 0.0)
    for parameter in stack.parameters():
        parameter.data.mul_(3)  # so that both clips take effect
    inputs = torch.randn(5, 9, 12, requires_grad=True)
    fused = run(stack, inputs, lengths)
    # In double precision only the plain path runs.
    exact = run(copy.deepcopy(stack).double(), inputs.detach().double().requires_grad_(), lengths)
    for got, expected in zip(fused, exact, strict=True):
        assert (got - expected).abs().max() < 1e-5 * expected.abs().max().clamp(min=1)


def run_cell(gates, first_cell):
    """The output and cell state of one step of one sequence, whose gates are given by its bias."""
    units = len(gates) // 4
    nothing = torch.zeros(1, 1)
    weights = (torch.zeros(4 * units, 1), gates, torch.zeros(4 * units, units), torch.eye(units))
    operands = Operands(nothing, *weights, torch.zeros(1, units), first_cell.expand(1, units))
    [result] = run_layers(kernel.load_kernel(), [Reading("clipped", [1], False, 3.0)], [operands])
    return result.last_output[0], result.last_cell[0]


@requires_kernel
def test_kernel_is_accurate_over_the_whole_range_of_gates():
    values = torch.cat([torch.linspace(-120, 120, 1001), torch.tensor([0.0, 1e-30, -1e-30])])
    output, cell = run_cell(values.repeat(4), torch.tensor(0.5))
    exact = values.double()
    expected_cell = exact.sigmoid() * 0.5 + exact.sigmoid() * exact.tanh()
    expected = exact.sigmoid() * expected_cell.tanh()
    assert (cell - expected_cell).abs().max() < 5e-7
    assert (output - expected).abs().max() < 5e-7


@requires_kernel
def test_the_kernel_propagates_nan():
    gates = torch.zeros(64)
    gates[3] = torch.nan
    cell = run_cell(gates, torch.tensor(0.0))[1]
    assert cell.isnan().nonzero().flatten().tolist() == [3]


@requires_kernel
def test_a_second_backward_pass_is_an_error():
    outputs, _ = LstmStack(8, 4, 1, 3.0, 3.0, True, 0.0)(torch.randn(2, 3, 4))
    outputs.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="already computed"):
        outputs.sum().backward()


PROBE = "from elmo_bench.kernels.compiled import load_kernel; print(load_kernel())"


def probe(monkeypatch, tmp_path, **environment):
    for name, value in {"ELMO_BENCH_CACHE": str(tmp_path), **environment}.items():
        monkeypatch.setenv(name, value)
    result = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.strip()


def test_without_a_compiler_the_kernel_is_silently_disabled(monkeypatch, tmp_path):
    assert probe(monkeypatch, tmp_path, PATH=str(tmp_path)) == "None"


def test_the_kernel_can_be_disabled(monkeypatch, tmp_path):
    assert probe(monkeypatch, tmp_path, ELMO_BENCH_KERNEL="0") == "None"
    assert list(tmp_path.iterdir()) == []


def test_a_broken_compiler_leaves_no_library(monkeypatch, tmp_path):
    compiler = tmp_path / "bin" / "g++"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\n[ $1 = --version ] || exit 1\n")
    compiler.chmod(0o755)
    assert probe(monkeypatch, tmp_path, PATH=f"{compiler.parent}:/bin:/usr/bin") == "None"
    assert list(tmp_path.glob("*.so")) == []


@requires_kernel
def test_concurrent_builds_share_one_library(monkeypatch, tmp_path):
    monkeypatch.setenv("ELMO_BENCH_CACHE", str(tmp_path))
    command = [sys.executable, "-c", PROBE]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert all("Kernel object" in process.communicate()[0] for process in processes)
    assert len(list(tmp_path.glob("kernel-*.so"))) == 1
