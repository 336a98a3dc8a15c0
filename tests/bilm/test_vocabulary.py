from collections import Counter

import pytest

from elmo_bench.bilm.vocabulary import SPECIAL, Vocabulary, sort_by_count
from elmo_bench.data.files import DataError


def test_words_are_sorted_by_descending_count_then_alphabetically():
    counts = sort_by_count(Counter({"b": 2, "a": 2, "c": 5, "d": 1}))
    assert Vocabulary.from_counts(counts, 10, 1).words == [*SPECIAL, "c", "a", "b", "d"]


def test_size_and_count_limit_the_vocabulary():
    counts = [("c", 5), ("a", 2), ("d", 1)]
    assert Vocabulary.from_counts(counts, 4, 1).words == [*SPECIAL, "c"]
    assert Vocabulary.from_counts(counts, 10, 2).words == [*SPECIAL, "c", "a"]


def test_special_words_in_the_text_are_not_added_twice():
    assert Vocabulary.from_counts([("<UNK>", 9), ("a", 2)], 10, 1).words == [*SPECIAL, "a"]


def test_a_word_outside_the_vocabulary_is_unknown():
    assert Vocabulary([*SPECIAL, "a"]).ids(["a", "zebra", "</S>"]) == [3, 2, 1]


@pytest.mark.parametrize("words", [["a", "b", "c"], [*SPECIAL, "a", "a"], []])
def test_an_invalid_vocabulary_is_rejected(words):
    with pytest.raises(ValueError, match="vocabulary"):
        Vocabulary(words)


def test_an_invalid_vocabulary_file_is_reported(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("the\nof\nand\n")
    with pytest.raises(DataError, match=r"words\.txt"):
        Vocabulary.read(path)
