import json
import pickle

import pytest
import torch
from safetensors.torch import load_file

from elmo_bench import BiLm
from elmo_bench.bilm import checkpoint
from elmo_bench.bilm.softmax import FullSoftmax
from elmo_bench.data.files import DataError
from tests.bilm.conftest import VOCABULARY

SENTENCE = [["the", "naïve", "cat"]]


def test_a_saved_model_loads_unchanged(any_bilm, tmp_path):
    any_bilm.save(tmp_path / "tiny", {"steps": 7})
    again = BiLm.load(tmp_path / "tiny")
    assert again.fingerprint() == any_bilm.fingerprint()
    assert again.vocabulary == VOCABULARY and not again.training
    assert torch.equal(again.embed(SENTENCE)[0], any_bilm.embed(SENTENCE)[0])


def test_a_folder_contains_the_expected_files(tiny_bilm, tmp_path):
    tiny_bilm.save(tmp_path / "tiny", {"steps": 7}, extra={"softmax": {"bias": torch.ones(3)}})
    names = "config.yaml weights.safetensors vocabulary.txt training.json checksums.json README.md"
    assert {path.name for path in (tmp_path / "tiny").iterdir()} == {
        *names.split(),
        "softmax.safetensors",
    }
    assert json.loads((tmp_path / "tiny" / "training.json").read_text()) == {"steps": 7}
    assert "| steps | 7 |" in (tmp_path / "tiny" / "README.md").read_text()
    extra = checkpoint.read_tensors(tmp_path / "tiny" / "softmax.safetensors")
    assert torch.equal(extra["bias"], torch.ones(3))


def test_half_precision_is_stored_and_full_precision_loaded(tiny_bilm, tmp_path):
    tiny_bilm.save(tmp_path / "half", {}, dtype=torch.float16)
    stored = load_file(tmp_path / "half" / "weights.safetensors")
    loaded = BiLm.load(tmp_path / "half")
    assert {tensor.dtype for tensor in stored.values()} == {torch.float16}
    assert {parameter.dtype for parameter in loaded.parameters()} == {torch.float32}
    torch.testing.assert_close(loaded.embed(SENTENCE), tiny_bilm.embed(SENTENCE), rtol=0, atol=5e-3)


def test_saving_again_replaces_the_folder_and_leaves_nothing_else(tiny_bilm, tmp_path):
    tiny_bilm.save(tmp_path / "tiny", {"round": 1}, extra={"old": {"x": torch.ones(1)}})
    tiny_bilm.save(tmp_path / "tiny", {"round": 2})
    assert not (tmp_path / "tiny" / "old.safetensors").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["tiny"]


def test_a_save_that_fails_leaves_the_old_folder(tiny_bilm, tmp_path):
    tiny_bilm.save(tmp_path / "tiny", {"round": 1})
    with pytest.raises(TypeError):
        tiny_bilm.save(tmp_path / "tiny", {"round": object()})
    assert json.loads((tmp_path / "tiny" / "training.json").read_text()) == {"round": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["tiny"]


def test_a_saved_word_encoder_does_not_need_its_vector_file(word_bilm, tmp_path):
    encoder = word_bilm.architecture.encoder.but(vectors="gone.txt")
    word_bilm.architecture = word_bilm.architecture.but(encoder=encoder)
    word_bilm.save(tmp_path / "words", {})
    assert BiLm.load(tmp_path / "words").architecture.encoder.vectors is None


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("hidden_dim: 16", "hidden_dim: many", r"lstm\.hidden_dim=many"),
        ("kind: char_cnn", "kind: bert", r"kind\W+bert"),
        ("dropout: 0.1", "dropout: 0.1\n  depth: 3", r"lstm\.depth=3"),
        ("  num_layers: 2\n", "", r"lstm\.num_layers"),
        ("name: tiny", "name: [tiny", r"config\.yaml"),
    ],
)
def test_an_invalid_config_is_reported_with_its_file(tiny_bilm, tmp_path, old, new, problem):
    tiny_bilm.save(tmp_path / "tiny", {})
    config = tmp_path / "tiny" / "config.yaml"
    assert old in config.read_text()
    config.write_text(config.read_text().replace(old, new))
    with pytest.raises(DataError, match=problem) as caught:
        BiLm.load(tmp_path / "tiny")
    assert str(caught.value).startswith(str(config))


def test_weights_of_another_size_are_reported(tiny_bilm, tmp_path):
    tiny_bilm.save(tmp_path / "tiny", {})
    config = tmp_path / "tiny" / "config.yaml"
    config.write_text(config.read_text().replace("hidden_dim: 16", "hidden_dim: 20"))
    (tmp_path / "tiny" / "checksums.json").unlink()  # changed on purpose
    with pytest.raises(DataError, match=r"weights.safetensors: \S+ is \(.*makes it \("):
        BiLm.load(tmp_path / "tiny")


def test_a_truncated_weights_file_is_reported(tiny_bilm, tmp_path):
    tiny_bilm.save(tmp_path / "tiny", {})
    path = tmp_path / "tiny" / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"weights.safetensors: cannot be read as safetensors"):
        BiLm.load(tmp_path / "tiny")


@pytest.mark.parametrize("name", ["weights.safetensors", "vocabulary.txt", "config.yaml"])
def test_a_flipped_bit_is_noticed(tiny_bilm, tmp_path, name):
    tiny_bilm.save(tmp_path / "tiny", {})
    path = tmp_path / "tiny" / name
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{name} has changed since .* pretrain it again"):
        BiLm.load(tmp_path / "tiny")


class Bomb:
    def __reduce__(self):
        return (print, ("pickled code was run",))


def test_pickled_code_is_never_run(tiny_bilm, tmp_path, capsys):
    tiny_bilm.save(tmp_path / "tiny", {})
    (tmp_path / "tiny" / "weights.safetensors").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(DataError):
        BiLm.load(tmp_path / "tiny")
    assert capsys.readouterr().out == ""


def test_a_missing_model_reports_where_it_was_searched_and_how_to_train_it(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere.*python pretrain.py bilm=nowhere"):
        BiLm.load("nowhere")


def test_a_vocabulary_word_with_a_line_break_is_rejected(tiny_bilm, tmp_path):
    tiny_bilm.vocabulary.append("two\nlines")
    with pytest.raises(ValueError, match="word 11"):
        tiny_bilm.save(tmp_path / "tiny", {})


def test_weights_that_are_not_finite_are_refused(tiny_bilm, tmp_path):
    with torch.no_grad():
        tiny_bilm.forward_lstm.layers[0].bias[0] = float("nan")
    tiny_bilm.save(tmp_path / "nan", {})
    with pytest.raises(DataError, match=r"weights\.safetensors.*bias.*not finite"):
        BiLm.load(tmp_path / "nan")


def test_a_folder_of_other_things_is_never_replaced(tiny_bilm, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("cat")
    with pytest.raises(ValueError, match="left as it is"):
        tiny_bilm.save(tmp_path / "photos", {})
    assert (tmp_path / "photos" / "cat.jpg").read_text() == "cat"


def test_a_softmax_of_another_vocabulary_is_refused(tiny_bilm, tmp_path):
    softmax = FullSoftmax(tiny_bilm.projection_dim, len(tiny_bilm.vocabulary) + 1)
    tiny_bilm.save(tmp_path / "other", {}, {"softmax": softmax.state_dict()})
    with pytest.raises(DataError, match=r"softmax\.safetensors: predicts 11 words.* has 10"):
        BiLm.load(tmp_path / "other").perplexity([["the", "cat"]])
