import gzip

import pytest
import torch

from elmo_bench.data.files import DataError
from elmo_bench.data.vectors import read_vectors, train_vectors
from elmo_bench.nn.word_embedding import UNKNOWN, WordEmbedding, pretrained_words, random_words
from tests.conftest import shared

TRAIN = [("The", "cat", "the", "dog"), ("cat",)]
GLOVE = "the 1 2\ncat 3 4\nbird 5 6\n. . 7 8\n"


@pytest.fixture
def glove(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text(GLOVE)
    return path


def fixed(glove, **settings):
    defaults = {"lowercase": True, "trainable": False, "normalize": False, "word_dropout": 0.25}
    paths = glove if isinstance(glove, list) else [glove]
    return pretrained_words(paths, TRAIN, [("bird", "fish")], **(defaults | settings))


def test_words_become_their_vectors_and_padding_is_zero(glove):
    embedded = fixed(glove)([("the", "cat"), ("bird",)])
    assert embedded.tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]


def test_lowercase_lookup_is_optional(glove):
    assert fixed(glove)([("The",)]).tolist() == [[[1, 2]]]
    assert fixed(glove, lowercase=False)([("The",)]).tolist() == [[[0, 0]]]


def test_a_word_without_a_cased_vector_may_fall_back_to_lowercase(glove):
    glove.write_text(f"{GLOVE}Cat 9 9\n")
    words = fixed(glove, lowercase="fallback")
    assert words([("The", "cat", "Dog")]).tolist() == [[[1, 2], [3, 4], [0, 0]]]
    assert words([("THE", "Bird")]).tolist() == [[[1, 2], [5, 6]]]  # not seen, but their lowercase
    cased = pretrained_words([glove], [("Cat", "cat")], [], "fallback", False, False, 0.0)
    assert cased([("Cat", "cat", "CAT")]).tolist() == [[[9, 9], [3, 4], [3, 4]]]


@pytest.fixture
def turian(tmp_path):
    path = tmp_path / "turian.txt"
    path.write_text("cat 0 3 4\nfish 1 0 0\n")
    return path


def test_vectors_of_several_files_are_joined_with_zeros_where_one_lacks_a_word(glove, turian):
    words = fixed([glove, turian])
    embedded = words([("the", "cat", "fish", "dog")]).tolist()
    assert embedded == [[[1, 2, 0, 0, 0], [3, 4, 0, 3, 4], [0, 0, 1, 0, 0], [0] * 5]]


def test_the_vectors_of_each_file_are_normalized_separately(glove, turian):
    embedded = fixed([glove, turian], normalize=True)([("cat",)])
    torch.testing.assert_close(embedded[0, 0], torch.tensor([0.6, 0.8, 0, 0.6, 0.8]))


def test_words_without_a_vector_share_one(glove):
    words = fixed(glove)
    assert words([("dog",)]).tolist() == words([("never-seen",)]).tolist() == [[[0, 0]]]


def test_fixed_vectors_have_nothing_to_train(glove):
    assert not any(parameter.requires_grad for parameter in fixed(glove).parameters())


def test_training_words_without_a_vector_get_their_own_if_trainable(glove):
    words = fixed(glove, trainable=True)
    assert words.row("dog") != UNKNOWN
    assert words.row("fish") == UNKNOWN
    assert words.table.weight.requires_grad
    assert words.eval()([("the",)]).tolist() == [[[1, 2]]]


def test_coverage_counts_words_and_tokens(glove):
    coverage = fixed(glove).coverage([("cat", "cat", "dog", "The")])
    assert coverage.words == pytest.approx(100 * 2 / 3)
    assert coverage.tokens == pytest.approx(75.0)


def test_vectors_without_any_known_word_are_rejected(glove):
    other = glove.with_name("other.txt")
    other.write_text("THE 1 2\n")
    with pytest.raises(DataError, match=r"other\.txt.*none of the 5 words.*words\.lowercase"):
        fixed([glove, other])


def test_random_words_exclude_rare_ones():
    words = random_words(TRAIN, dim=4, lowercase=True, min_count=2, word_dropout=0.25)
    assert words.vocabulary == ["the", "cat"]
    assert words.row("dog") == UNKNOWN


def test_random_vectors_are_about_as_long_as_1_in_every_dimension():
    torch.manual_seed(1)
    for dim in (50, 300):
        lengths = WordEmbedding("abcdefgh", dim, False, True).table.weight[1:].norm(dim=1)
        torch.testing.assert_close(lengths.mean().item(), 1.0, rtol=0.05, atol=0)


def test_word_dropout_trains_the_unknown_vector_and_prefers_rare_words():
    words = random_words(TRAIN, dim=4, lowercase=True, min_count=1, word_dropout=1.0)
    assert words.drop_rate[words.row("the")] == pytest.approx(1 / 3)
    assert words.drop_rate[words.row("dog")] == pytest.approx(1 / 2)
    torch.manual_seed(1)
    words([("dog",) * 20]).sum().backward()
    assert words.table.weight.grad[UNKNOWN].abs().sum() > 0
    known = words.eval()([("dog",) * 20])
    assert (known == words.table.weight[words.row("dog")]).all()


def test_no_word_dropout_drops_nothing():
    words = random_words(TRAIN, dim=4, lowercase=True, min_count=1, word_dropout=0.0)
    assert words.drop_rate.eq(0).all()


def test_settings_and_state_dict_rebuild_the_embedding(glove):
    words = fixed(glove)
    again = WordEmbedding(**words.settings())
    again.load_state_dict(words.state_dict())
    sample = [("The", "dog", "bird")]
    assert torch.equal(again(sample), words(sample))


def test_gzip_and_the_word2vec_header_are_supported(tmp_path):
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(f"4 2\n{GLOVE}".encode()))
    assert read_vectors(path, {"cat", ". ."})["cat"].tolist() == [3, 4]
    assert read_vectors(path, {"cat", ". ."})[". ."].tolist() == [7, 8]


@pytest.mark.parametrize("line", ["dog 1", "dog 0.1 2 3", "dog 1 x", "dog 1 nan", ""])
def test_a_damaged_line_is_reported(glove, line):
    glove.write_text(f"{GLOVE}{line}\n")
    with pytest.raises(DataError, match=r"glove\.txt, line 5"):
        read_vectors(glove, {"dog"})


def test_a_real_glove_file_is_read():
    path = shared("data", "vectors", "glove.6B.100d.tasks.txt.gz")
    words = pretrained_words([path], [("The", "London", "zzxqj")], [], True, False, False, 0.0)
    assert (words.dim, words.vocabulary) == (100, ["the", "london"])


def trained(path, lowercase=True, min_count=1):
    text = [["A", "cat", "sees", "a", "dog"], ["a", "dog", "sees", "rare", "things"]] * 20
    return train_vectors(
        path,
        lambda: iter(text),
        dim=4,
        lowercase=lowercase,
        min_count=min_count,
        window=2,
        epochs=2,
    )


def test_training_vectors_is_reproducible(tmp_path):
    first, second = trained(tmp_path / "a.txt"), trained(tmp_path / "b.txt")
    assert first.read_text() == second.read_text()
    assert read_vectors(first, {"dog", "A"})["dog"].shape == (4,)


def test_existing_vectors_are_trained_again_only_if_damaged(tmp_path):
    path = trained(tmp_path / "a.txt")
    content, written = path.read_text(), path.stat().st_mtime_ns
    assert trained(path).stat().st_mtime_ns == written
    path.write_text(content.replace("1", "2", 1))
    assert trained(path).read_text() == content


def test_a_text_without_frequent_words_is_rejected(tmp_path):
    with pytest.raises(ValueError, match=r"words\.min_count=99"):
        trained(tmp_path / "a.txt", min_count=99)
    assert not (tmp_path / "a.txt").exists()
