import copy

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elmo_bench.kernels.compiled import load_kernel
from elmo_bench.nn.birnn import BiGru, BiLstm
from elmo_bench.nn.dropout import VariationalDropout
from elmo_bench.nn.init import init_recurrent_, orthogonal_blocks_

LENGTHS = torch.tensor([5, 1, 3])
MASK = torch.arange(5) < LENGTHS[:, None]


@pytest.fixture
def inputs():
    return torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize(("encoder_class", "cell"), [(BiLstm, nn.LSTM), (BiGru, nn.GRU)])
def test_equals_pytorchs_bidirectional_network_on_packed_sequences(encoder_class, cell, inputs):
    encoder = encoder_class(4, [3], dropout=0.0)
    oracle = cell(4, 3, batch_first=True, bidirectional=True)
    for name, parameter in oracle.named_parameters():
        ours = encoder.backwards[0] if name.endswith("_reverse") else encoder.forwards[0]
        parameter.data = getattr(ours, name.removesuffix("_reverse")).data
    packed = pack_padded_sequence(inputs, LENGTHS, batch_first=True, enforce_sorted=False)
    expected, _ = pad_packed_sequence(oracle(packed)[0], batch_first=True)
    torch.testing.assert_close(encoder(inputs, MASK), expected)


def test_a_segment_is_encoded_the_same_alone_and_in_a_batch(inputs):
    encoder = BiLstm(4, [6, 3], dropout=0.5).eval()
    batch = encoder(inputs.masked_fill(~MASK[:, :, None], 99.0), MASK)
    assert batch.shape == (3, 5, encoder.dim) == (3, 5, 6)
    for row, length in enumerate(LENGTHS.tolist()):
        alone = encoder(inputs[row : row + 1, :length], MASK[row : row + 1, :length])
        torch.testing.assert_close(batch[row, :length], alone[0])
        assert batch[row, length:].eq(0).all()


@pytest.mark.skipif(load_kernel() is None, reason="needs a C++ compiler")
def test_a_compiled_gru_has_the_outputs_and_gradients_of_pytorchs():
    torch.manual_seed(1)
    lengths = torch.tensor([30, 7, 1, 30, 18])
    mask = torch.arange(30) < lengths[:, None]
    gru = BiGru(9, [35, 4], dropout=0.0)
    inputs, weights = torch.randn(5, 30, 9), torch.rand(5, 30, 8)
    for parameter in gru.parameters():
        parameter.data.mul_(3)  # so that gates are not all near their middle

    def results(gru, inputs, weights):
        inputs = inputs.clone().requires_grad_()
        outputs = gru(inputs, mask)
        sources = [inputs, *gru.parameters()]
        return outputs, *torch.autograd.grad((weights * outputs).sum(), sources)

    # In double precision only PyTorch's runs.
    exact = results(copy.deepcopy(gru).double(), inputs.double(), weights.double())
    for got, expected in zip(results(gru, inputs, weights), exact, strict=True):
        assert (got - expected).abs().max() < 1e-5 * expected.abs().max()


def test_variational_dropout_keeps_one_mask_per_segment():
    torch.manual_seed(1)
    dropped = VariationalDropout(0.5)(torch.ones(8, 6, 20))
    assert (dropped == dropped[:, :1]).all()
    assert not (dropped == dropped[:1]).all()
    assert set(dropped.unique().tolist()) == {0.0, 2.0}


def test_variational_dropout_is_off_in_evaluation(inputs):
    assert VariationalDropout(0.5).eval()(inputs) is inputs


def test_recurrent_weights_start_with_orthogonal_gates():
    lstm = nn.LSTM(3, 4)
    init_recurrent_(lstm)
    for gate in lstm.weight_hh_l0.split(4):
        torch.testing.assert_close(gate @ gate.T, torch.eye(4), atol=1e-5, rtol=0)
    assert (lstm.bias_ih_l0 + lstm.bias_hh_l0).tolist() == [0] * 4 + [1] * 4 + [0] * 8


@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU])
def test_the_input_weights_of_each_gate_fill_the_range_of_glorot(cell):
    torch.manual_seed(1)
    rnn = cell(20, 50)
    init_recurrent_(rnn)
    for gate in rnn.weight_ih_l0.split(50):
        assert 0.95 < gate.abs().max() / (6 / (20 + 50)) ** 0.5 <= 1


def test_orthogonal_blocks_may_be_wider_than_high():
    weight = torch.zeros(4, 5)
    orthogonal_blocks_(weight, 2)
    torch.testing.assert_close(weight[:2] @ weight[:2].T, torch.eye(2), atol=1e-5, rtol=0)
