"""The biLM against an independent forward pass in NumPy, written from the paper's equations."""

import numpy as np
import pytest
import torch

from elmo_bench.bilm.characters import BOS, EOS
from elmo_bench.bilm.model import BiLm
from tests.bilm.conftest import tiny_architecture

SENTENCES = [["the", "cat", "sat"], ["Überlänge", "on", "a", "mat", "antidisestablishmentarianism"]]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def spell(word, max_chars):
    """Byte ids between the marks of a word (258, 259), padded with 260; sentence marks 256, 257."""
    marks = {BOS: [256], EOS: [257]}
    inside = marks.get(word, list(word.encode())[: max_chars - 2])
    ids = [258, *inside, 259]
    return ids + [260] * (max_chars - len(ids))


def encode(word, weights, encoder):
    """Convolutions over all positions, maximum, ReLU, highway layers, projection."""
    chars = weights["encoder.chars"][spell(word, encoder.max_chars)]  # (char, dim)
    maxima = []
    for index, (width, _) in enumerate(encoder.filters):
        kernel = weights[f"encoder.kernels.{index}"]
        windows = [chars[t : t + width].ravel() for t in range(encoder.max_chars - width + 1)]
        maxima.append((np.stack(windows) @ kernel.T).max(axis=0))
    x = np.maximum(np.concatenate(maxima) + weights["encoder.bias"], 0)
    for index in range(encoder.num_highways):
        name = f"encoder.highways.{index}"
        gate = sigmoid(weights[f"{name}.carry.weight"] @ x + weights[f"{name}.carry.bias"])
        new = weights[f"{name}.transform.weight"] @ x + weights[f"{name}.transform.bias"]
        x = gate * np.maximum(new, 0) + (1 - gate) * x
    return weights["encoder.projection.weight"] @ x + weights["encoder.projection.bias"]


def run_stack(inputs, weights, stack, lstm):
    """LSTM layers with projection; a forget bias of 1, clips, and residuals from layer 2 on."""
    layers = []
    for number in range(lstm.num_layers):
        name = f"{stack}.layers.{number}"
        hidden, cell = np.zeros(lstm.projection_dim), np.zeros(lstm.hidden_dim)
        outputs = []
        for x in inputs:
            gates = weights[f"{name}.input_weight"] @ x + weights[f"{name}.bias"]
            gates = gates + weights[f"{name}.recurrent_weight"] @ hidden
            new, candidate, forget, output = np.split(gates, 4)
            cell = sigmoid(forget + 1) * cell + sigmoid(new) * np.tanh(candidate)
            cell = np.clip(cell, -lstm.cell_clip, lstm.cell_clip)
            hidden = weights[f"{name}.projection_weight"] @ (sigmoid(output) * np.tanh(cell))
            hidden = np.clip(hidden, -lstm.projection_clip, lstm.projection_clip)
            outputs.append(hidden)
        outputs = np.stack(outputs)
        inputs = outputs + inputs if lstm.skip_connections and number else outputs
        layers.append(inputs)
    return layers


def reference(bilm, sentence):
    """All layers (layer, time, dim), the token layer first, without BOS and EOS."""
    weights = {key: value.double().numpy() for key, value in bilm.state_dict().items()}
    encoder, lstm = bilm.architecture.encoder, bilm.architecture.lstm
    tokens = np.stack([encode(word, weights, encoder) for word in (BOS, *sentence, EOS)])
    forward = run_stack(tokens, weights, "forward_lstm", lstm)
    backward = run_stack(tokens[::-1], weights, "backward_lstm", lstm)
    layers = [np.concatenate([tokens, tokens], axis=1)]
    layers += [
        np.concatenate([ahead, back[::-1]], axis=1)
        for ahead, back in zip(forward, backward, strict=True)
    ]
    return np.stack(layers)[:, 1:-1]


@pytest.mark.parametrize("change", [{}, {"skip_connections": False}, {"cell_clip": 0.3}])
def test_the_layers_are_those_of_the_equations(change):
    architecture = tiny_architecture("char_cnn")
    torch.manual_seed(1)
    bilm = BiLm(architecture.but(lstm=architecture.lstm.but(**change))).eval()
    for sentence, layers in zip(SENTENCES, bilm.embed(SENTENCES), strict=True):
        np.testing.assert_allclose(layers.numpy(), reference(bilm, sentence), atol=2e-6)
