"""Small biLMs, with weights large enough that clips and gates matter."""

import pytest
import torch

from elmo_bench import BiLm
from elmo_bench.bilm.characters import BOS, EOS, UNK
from elmo_bench.config.bilm_settings import Architecture

ENCODERS = {
    "char_cnn": {
        "kind": "char_cnn",
        "char_dim": 4,
        "filters": [[1, 4], [2, 6], [5, 8]],
        "num_highways": 2,
        "activation": "relu",
        "max_chars": 20,
    },
    "char_rnn": {"kind": "char_rnn", "char_dim": 4, "hidden_dim": 5, "max_chars": 20},
    "word": {"kind": "word", "word_dim": 8, "vectors": None, "trainable": True},
}
LSTM = {
    "hidden_dim": 16,
    "projection_dim": 8,
    "num_layers": 2,
    "cell_clip": 3.0,
    "projection_clip": 3.0,
    "skip_connections": True,
    "dropout": 0.1,
}
VOCABULARY = [BOS, EOS, UNK, "the", "cat", "sat", "on", "a", "mat", "."]


def tiny_architecture(encoder="char_cnn"):
    return Architecture.model_validate({"name": "tiny", "encoder": ENCODERS[encoder], "lstm": LSTM})


def build_bilm(encoder="char_cnn"):
    torch.manual_seed(1)
    return BiLm(tiny_architecture(encoder), VOCABULARY).eval()


@pytest.fixture
def tiny_bilm():
    return build_bilm()


@pytest.fixture
def word_bilm():
    return build_bilm("word")


@pytest.fixture(params=sorted(ENCODERS))
def any_bilm(request):
    return build_bilm(request.param)
