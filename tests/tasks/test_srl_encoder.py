import pytest
import torch
from torch import Tensor

from elmo_bench.nn.packed import Packing, Recurrence
from elmo_bench.tasks.srl.encoder import HighwayCell, HighwayLstm

LENGTHS = torch.tensor([3, 1, 5, 3])
MASK = torch.arange(5) < LENGTHS[:, None]


def plain_layer(layer: torch.nn.Module, inputs: Tensor) -> Tensor:
    """Compute one sequence step by step, following the equations."""
    units = layer.from_output.in_features
    output, cell = inputs.new_zeros(units), inputs.new_zeros(units)
    outputs = [output] * len(inputs)
    times = range(len(inputs))
    for time in reversed(times) if layer.backwards else times:
        *gates, linear = layer.from_input(inputs[time]).chunk(6)
        fed_back = layer.from_output(output).chunk(5)
        j, i, f, o, r = (gate + more for gate, more in zip(gates, fed_back, strict=True))
        cell = f.sigmoid() * cell + i.sigmoid() * j.tanh()
        output = r.sigmoid() * o.sigmoid() * cell.tanh() + (1 - r.sigmoid()) * linear
        outputs[time] = output
    return torch.stack(outputs)


def test_every_sequence_follows_the_equations():
    torch.manual_seed(0)
    encoder, packing = HighwayLstm(4, 3, num_layers=3, dropout=0.0), Packing(MASK)
    inputs = torch.randn(4, 5, 4)
    outputs = packing.unpack(encoder(packing.pack(inputs), packing))
    for number, length in enumerate(LENGTHS):
        expected = inputs[number, :length]
        for layer in encoder.layers:
            expected = plain_layer(layer, expected)
        torch.testing.assert_close(outputs[number, :length], expected)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_gradients_of_the_recurrence_are_exact(backwards, masked):
    torch.manual_seed(0)
    sizes, units, dim = Packing(MASK).sizes, 3, 2
    shapes = [(12, dim), (6 * units, dim), (6 * units,), (5 * units, units), (4, units), (4, units)]
    tensors = [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes]
    mask = torch.tensor([[0, 2, 1]], dtype=torch.double).expand(4, 3) if masked else None
    assert torch.autograd.gradcheck(
        lambda *given: Recurrence.apply(HighwayCell(), sizes, backwards, *given, mask), tensors
    )


def test_dropout_drops_the_same_units_at_every_step():
    torch.manual_seed(0)
    encoder, packing = HighwayLstm(4, 20, num_layers=1, dropout=0.5), Packing(MASK)
    outputs = packing.unpack(encoder(torch.randn(12, 4), packing))
    dropped = outputs[2] == 0
    assert 0 < dropped[0].sum() < 20
    assert (dropped == dropped[0]).all()


def test_nothing_is_dropped_in_evaluation():
    encoder, packing = HighwayLstm(4, 20, num_layers=2, dropout=0.5).eval(), Packing(MASK)
    inputs = torch.randn(12, 4)
    assert torch.equal(encoder(inputs, packing), encoder(inputs, packing))


def test_unpacking_restores_the_padded_tensor():
    inputs = torch.randn(4, 5, 4) * MASK[:, :, None]
    packing = Packing(MASK)
    assert torch.equal(packing.unpack(packing.pack(inputs)), inputs)


def test_packing_gathers_shared_rows():
    inputs, rows = torch.randn(2, 5, 4), torch.tensor([0, 1, 0, 0])
    packing = Packing(MASK)
    assert torch.equal(packing.pack(inputs, rows), packing.pack(inputs[rows]))


def test_each_gate_starts_orthonormal_with_a_forget_bias_of_one():
    layer = HighwayLstm(8, 5, num_layers=1, dropout=0.0).layers[0]
    for block in (*layer.from_input.weight.split(5), *layer.from_output.weight.split(5)):
        torch.testing.assert_close(block @ block.T, torch.eye(5))
    assert layer.from_input.bias.tolist() == [0] * 10 + [1] * 5 + [0] * 15
