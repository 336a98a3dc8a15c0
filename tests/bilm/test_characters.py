from hypothesis import given
from hypothesis import strategies as st

from elmo_bench.bilm.characters import BOS, EOS, char_ids, spell


def test_a_word_is_its_bytes_between_begin_and_end_marks():
    assert spell("né", 50) == [258, ord("n"), 0xC3, 0xA9, 259]


def test_bos_and_eos_have_their_own_characters():
    assert (spell(BOS, 50), spell(EOS, 50)) == ([258, 256, 259], [258, 257, 259])


def test_long_words_are_truncated_but_keep_their_end_mark():
    assert spell("x" * 60, 50) == [258, *[ord("x")] * 48, 259]


@given(st.lists(st.text(), max_size=5))
def test_rows_are_padded_words(words):
    rows = char_ids(words, 50).tolist()
    assert [[char for char in row if char != 260] for row in rows] == [spell(w, 50) for w in words]
    assert all(len(row) == 50 for row in rows)
