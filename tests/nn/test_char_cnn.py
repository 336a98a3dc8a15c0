import pytest
import torch

from elmo_bench.nn.char_cnn import UNKNOWN, CharCnn, count_alphabet

SEGMENTS = [("A", "naïve", "cat"), ("cat", "http://example.org/very/long/word"), ("𝔘",)]


@pytest.fixture
def cnn():
    torch.manual_seed(1)
    return CharCnn(char_dim=6, filters=[[2, 5], [3, 4], [5, 3]])


def test_output_has_a_vector_per_token_and_zero_padding(cnn):
    output = cnn(SEGMENTS)
    assert output.shape == (3, 3, cnn.dim) == (3, 3, 12)
    assert output[1, 2].eq(0).all() and output[2, 1:].eq(0).all()


def test_a_word_has_the_same_vector_alone_and_in_any_batch(cnn):
    output = cnn(SEGMENTS)
    for row, segment in enumerate(SEGMENTS):
        for time, word in enumerate(segment):
            torch.testing.assert_close(cnn([(word,)])[0, 0], output[row, time])


def test_equals_convolution_over_the_word_with_its_marks(cnn):
    linear = cnn.filters[1]
    weight = linear.weight.view(4, 3, 6).transpose(1, 2)
    chars = cnn.table(torch.tensor([cnn.spell("naïve")])).transpose(1, 2)
    expected = torch.conv1d(chars, weight, linear.bias).relu().amax(dim=2)
    torch.testing.assert_close(cnn([("naïve",)])[0, :, 5:9], expected)


def test_bytes_cover_every_character(cnn):
    assert UNKNOWN not in cnn.spell("naïve 𝔘")


def test_characters_outside_the_alphabet_are_unknown():
    alphabet = count_alphabet([("aab",), ("ba", "c")], min_count=2)
    assert alphabet == ["a", "b"]
    assert CharCnn(4, [[3, 5]], alphabet=alphabet).spell("cab")[1:-1] == [UNKNOWN, 4, 5]


def test_every_character_of_the_alphabet_has_its_own_vector():
    cnn = CharCnn(4, [[1, 5]], alphabet=["a", "b"])
    assert sorted({*cnn.spell("ab"), 0, UNKNOWN}) == list(range(len(cnn.table.weight)))


def test_long_words_are_truncated():
    cnn = CharCnn(4, [[3, 5]], max_chars=3)
    assert cnn.spell("abcdef") == cnn.spell("abc")


def test_character_order_matters(cnn):
    assert not torch.equal(cnn([("un",)]), cnn([("nu",)]))


def test_gradient_reaches_the_characters_used(cnn):
    cnn([("ab",)]).sum().backward()
    used = cnn.table.weight.grad.abs().sum(dim=1).nonzero().flatten().tolist()
    assert set(used) <= set(cnn.spell("ab")) and used
