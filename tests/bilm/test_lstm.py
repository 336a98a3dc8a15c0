import pytest
import torch

from elmo_bench.bilm.lstm import FORGET_BIAS, LstmStack


def build_stack(**changes):
    torch.manual_seed(1)
    settings = {
        "hidden_dim": 10,
        "projection_dim": 4,
        "num_layers": 2,
        "cell_clip": None,
        "projection_clip": None,
        "skip_connections": False,
        "dropout": 0.0,
    }
    return LstmStack(**{**settings, **changes}).eval()


def to_pytorch(stack):
    """PyTorch's LSTM with the same weights: gates i, f, g, o, and the forget bias in the bias."""
    lstm = torch.nn.LSTM(4, 10, num_layers=2, batch_first=True, proj_size=4)
    for number, layer in enumerate(stack.layers):
        order = torch.cat([torch.arange(10) + 10 * block for block in (0, 2, 1, 3)])
        bias = layer.bias.detach().clone()
        bias[20:30] += FORGET_BIAS
        getattr(lstm, f"weight_ih_l{number}").data = layer.input_weight.data[order]
        getattr(lstm, f"weight_hh_l{number}").data = layer.recurrent_weight.data[order]
        getattr(lstm, f"weight_hr_l{number}").data = layer.projection_weight.data.clone()
        getattr(lstm, f"bias_ih_l{number}").data = bias[order]
        getattr(lstm, f"bias_hh_l{number}").data.zero_()
    return lstm


def test_without_clips_and_skips_it_equals_pytorchs_lstm():
    stack, inputs = build_stack(), torch.randn(3, 7, 4)
    outputs, (hidden, cell) = stack(inputs)
    expected, (expected_hidden, expected_cell) = to_pytorch(stack)(inputs)
    torch.testing.assert_close(outputs[-1], expected)
    torch.testing.assert_close(hidden, expected_hidden)
    torch.testing.assert_close(cell, expected_cell)


def test_a_skip_connection_changes_the_output_but_not_the_state():
    plain, skipping = build_stack(), build_stack(skip_connections=True)
    inputs = torch.randn(3, 7, 4)
    outputs, state = plain(inputs)
    skipped, skipped_state = skipping(inputs)
    torch.testing.assert_close(skipped[0], outputs[0])
    torch.testing.assert_close(skipped[1], outputs[1] + outputs[0])
    torch.testing.assert_close(skipped_state, state)


def test_clips_bound_cell_and_output():
    stack = build_stack(cell_clip=0.05, projection_clip=0.01)
    outputs, (_, cell) = stack(10 * torch.randn(3, 7, 4))
    assert outputs.abs().max().item() == pytest.approx(0.01)
    assert cell.abs().max().item() == pytest.approx(0.05)


def test_reading_a_sequence_in_two_pieces_changes_nothing():
    stack, inputs = build_stack(cell_clip=0.2, projection_clip=0.1), torch.randn(3, 7, 4)
    whole, last = stack(inputs)
    first, state = stack(inputs[:, :3])
    second, state = stack(inputs[:, 3:], state)
    torch.testing.assert_close(torch.cat([first, second], dim=2), whole)
    torch.testing.assert_close(state, last)


def test_a_padded_sequence_has_the_same_outputs_and_state_as_alone():
    stack, inputs, lengths = build_stack(), torch.randn(3, 7, 4), torch.tensor([2, 7, 5])
    outputs, (hidden, cell) = stack(inputs, lengths=lengths)
    for row, length in enumerate(lengths.tolist()):
        alone, (alone_hidden, alone_cell) = stack(inputs[row : row + 1, :length])
        torch.testing.assert_close(outputs[:, row : row + 1, :length], alone)
        assert not outputs[:, row, length:].any()
        torch.testing.assert_close(hidden[:, row : row + 1], alone_hidden)
        torch.testing.assert_close(cell[:, row : row + 1], alone_cell)


def test_dropout_is_random_and_only_active_in_training():
    stack = build_stack(dropout=0.5).train()
    inputs = torch.ones(1, 4, 4)
    assert not torch.equal(stack(inputs)[0], stack(inputs)[0])
    stack.eval()
    assert torch.equal(stack(inputs)[0], stack(inputs)[0])


def test_the_skip_connection_adds_the_dropped_input():
    stack = build_stack(skip_connections=True, dropout=0.5, projection_clip=1e-9).train()
    # The clip leaves nothing of a layer's own output, so the top is what the skip adds.
    torch.manual_seed(2)
    outputs, _ = stack(torch.ones(8, 4, 4))
    kept = outputs[1].abs() > 1.1e-9
    assert 0 < kept.float().mean() < 1
