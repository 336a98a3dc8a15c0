import gzip

import pytest
import torch
from torch.nn.functional import conv1d

from elmo_bench import BiLm
from elmo_bench.bilm.token_encoders import CharCnnEncoder
from elmo_bench.bilm.word_encoder import WordEncoder
from elmo_bench.config.bilm_settings import Architecture
from elmo_bench.config.compose import validated
from elmo_bench.config.errors import ConfigError
from elmo_bench.data.files import DataError
from tests.bilm.conftest import ENCODERS, LSTM, VOCABULARY, tiny_architecture

WORDS = ["", "a", "the", "cats", "é", "unforgettable", "x" * 17, "y" * 18, "z" * 40]


def every_position(cnn, words):
    """The convolutions as bilm-tf runs them: over all positions, padding included."""
    chars = cnn.chars[cnn.ids(words)].transpose(1, 2)  # (word, dim, char)
    maxima = []
    for kernel in cnn.kernels:
        weight = kernel.unflatten(1, (-1, chars.shape[1])).transpose(1, 2)
        maxima.append(conv1d(chars, weight).amax(dim=2))
    vectors = cnn.activation(torch.cat(maxima, dim=1) + cnn.bias)
    for highway in cnn.highways:
        vectors = highway(vectors)
    return cnn.projection(vectors)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_skipping_padding_changes_nothing(activation):
    torch.manual_seed(1)
    settings = {**ENCODERS["char_cnn"], "activation": activation}
    del settings["kind"]
    cnn = CharCnnEncoder(8, **settings)
    torch.nn.init.normal_(cnn.bias)
    for kernel in cnn.kernels:
        torch.nn.init.normal_(kernel)
    torch.testing.assert_close(cnn(cnn.ids(WORDS)), every_position(cnn, WORDS))


def test_a_word_has_the_same_vector_in_any_batch(any_bilm):
    together = any_bilm.encode_words(WORDS)
    alone = torch.cat([any_bilm.encode_words([word]) for word in WORDS])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-6)


def test_no_words_give_no_vectors(any_bilm):
    assert any_bilm.encode_words([]).shape == (0, 8)


def test_every_parameter_of_an_encoder_gets_a_gradient(any_bilm):
    any_bilm.encode_words(VOCABULARY).square().sum().backward()
    for name, parameter in any_bilm.encoder.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_words_outside_a_table_share_one_vector(word_bilm):
    unknown, other, known = word_bilm.encode_words(["zebra", "quagga", "cat"])
    assert torch.equal(unknown, other) and not torch.equal(unknown, known)


def test_a_table_takes_its_vectors_from_a_file(tmp_path):
    path = tmp_path / "vectors.txt.gz"
    with gzip.open(path, "wt") as file:
        file.write("cat 1 2\nzebra 3 4\n")
    table = WordEncoder(2, 2, path, False, VOCABULARY)
    assert table(table.ids(["cat"])).tolist() == [[1, 2]]
    assert not table.table.requires_grad


def test_a_vector_of_another_size_is_reported_with_its_line(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 1.0 2.0\ncat 1.0 2.0 3.0\n")
    with pytest.raises(DataError, match=r"vectors\.txt, line 2: expected a word and 2 numbers"):
        WordEncoder(2, 2, path, False, VOCABULARY)


def test_vectors_of_another_size_than_the_table_are_reported(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("cat 1.0 2.0 3.0\n")
    with pytest.raises(DataError, match=r"vectors\.txt: 3 values, but .*word_dim=2"):
        WordEncoder(2, 2, path, False, VOCABULARY)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"kind": "bert"}, r"encoder.*kind\W+bert"),
        ({**ENCODERS["char_cnn"], "activation": "gelu"}, r"encoder\.activation=gelu"),
        ({**ENCODERS["char_cnn"], "filters": [[30, 4]]}, r"encoder.*filters.*30.*max_chars=20"),
    ],
)
def test_invalid_encoder_settings_are_rejected(settings, problem):
    with pytest.raises(ConfigError, match=problem):
        validated(Architecture, {"name": "tiny", "encoder": settings, "lstm": LSTM})


def test_a_word_encoder_needs_a_vocabulary():
    with pytest.raises(ValueError, match="needs a vocabulary"):
        BiLm(tiny_architecture("word"))
