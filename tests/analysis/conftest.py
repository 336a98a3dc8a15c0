"""A tiny biLM with random weights, and a little text to search."""

import json

import pytest
import torch

from elmo_bench import BiLm
from elmo_bench.bilm.characters import BOS, EOS, UNK
from elmo_bench.config.bilm_settings import Architecture

TEXT = """\
the actors gave a play in the old theatre
we saw the play twice
they play football in the park

Play it again
the children play with a ball
a ball rolled over the old park
we saw the play twice
"""


def build_bilm():
    encoder = {
        "kind": "char_cnn", "char_dim": 4, "filters": [[1, 4], [3, 8]], "num_highways": 1,
        "activation": "relu", "max_chars": 20,
    }  # fmt: skip
    lstm = {
        "hidden_dim": 12, "projection_dim": 6, "num_layers": 2, "cell_clip": 3.0,
        "projection_clip": 3.0, "skip_connections": True, "dropout": 0.0,
    }  # fmt: skip
    values = {"name": "tiny", "encoder": encoder, "lstm": lstm}
    torch.manual_seed(1)
    return BiLm(Architecture.model_validate(values), [BOS, EOS, UNK, "the"]).eval()


@pytest.fixture(scope="session")
def bilm():
    return build_bilm()


@pytest.fixture(scope="session")
def bilm_folder(bilm, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bilm") / "tiny"
    bilm.save(folder, record={})
    return folder


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def sense_line(lemma, sense, sentence, index):
    row = {"lemma": lemma, "sense": sense, "index": index, "tokens": sentence.split()}
    return json.dumps(row) + "\n"


@pytest.fixture
def senses(tmp_path):
    path = tmp_path / "senses.jsonl"
    lines = [
        sense_line("play", "play.stage", "we saw the plays twice", 3),
        sense_line("play", "play.stage", "the actors gave a play", 4),
        sense_line("play", "play.sport", "they play football", 1),
        sense_line("ball", "ball.dance", "a ball in the palace", 1),
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path
