import pytest

from elmo_bench.bilm.generate import continue_sentence
from elmo_bench.errors import UserError


@pytest.mark.parametrize("sentences", [["A word"], [["A"], "word"], "A word"])
def test_strings_in_place_of_sentences_are_refused(sentences, tiny_bilm):
    for read in (tiny_bilm.embed, tiny_bilm.layers):
        with pytest.raises(UserError, match="string"):
            read(sentences)


def test_a_string_is_refused_with_the_way_to_a_sentence(tiny_bilm):
    with pytest.raises(UserError, match=r"sentence 0 is the string 'A word'.*\.split\(\)"):
        tiny_bilm.embed(["A word"])
    with pytest.raises(UserError, match="a sentence is a list of tokens"):
        continue_sentence(tiny_bilm, "A word", 3, 1.0, 1)
