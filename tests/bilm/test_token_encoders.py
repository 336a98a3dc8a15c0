import gzip

import pytest
import torch
from torch.nn.functional import conv1d

from elmo_bench import BiLm
from elmo_bench.bilm.token_encoders import CharCnnEncoder
from elmo_bench.bilm.word_encoder import WordEncoder
from elmo_bench.data.files import DataError
from tests.bilm.conftest import ENCODERS, LSTM, VOCABULARY

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
def test_leaving_padding_out_changes_nothing(activation):
    torch.manual_seed(1)
    settings = {**ENCODERS["char_cnn"], "activation": activation}
    del settings["kind"]
    cnn = CharCnnEncoder(8, **settings)
    torch.nn.init.normal_(cnn.bias)
    for kernel in cnn.kernels:
        torch.nn.init.normal_(kernel)
    torch.testing.assert_close(cnn(cnn.ids(WORDS)), every_position(cnn, WORDS))


def test_a_word_has_the_same_vector_in_any_company(any_bilm):
    together = any_bilm.encode_words(WORDS)
    alone = torch.cat([any_bilm.encode_words([word]) for word in WORDS])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-6)


def test_no_words_give_no_vectors(any_bilm):
    assert any_bilm.encode_words([]).shape == (0, 8)


def test_every_parameter_of_an_encoder_learns(any_bilm):
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


def test_a_vector_file_of_another_size_is_refused_with_its_line(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 2\ncat 1 2 3\n")
    with pytest.raises(DataError, match=r"vectors.txt, line 2: 3 values, but .*word_dim=2"):
        WordEncoder(2, 2, path, False, VOCABULARY)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"kind": "bert"}, "kind is 'bert'"),
        ({**ENCODERS["char_cnn"], "activation": "gelu"}, "activation is 'gelu'"),
        ({**ENCODERS["char_cnn"], "filters": [[30, 4]]}, "width 30 exceeds encoder.max_chars=20"),
    ],
)
def test_an_encoder_that_cannot_be_is_refused(settings, problem):
    with pytest.raises(ValueError, match=problem):
        BiLm("tiny", settings, LSTM)


def test_a_word_encoder_needs_a_vocabulary():
    with pytest.raises(ValueError, match="needs a vocabulary"):
        BiLm("tiny", ENCODERS["word"], LSTM)
