import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from elmo_bench.data.tokenizer import token_offsets, tokenize
from tests.conftest import shared

TRICKY = st.text(st.sampled_from("aZ9é 'n’t\"“”‘«».,:;-–—/$£€%&()[]…\u00a0\u0301\u200b\u200d\n"))
TEXTS = st.one_of(st.text(), TRICKY)


@given(TEXTS, st.booleans())
@example('"\u0301x', True)
def test_tokens_are_ordered_slices_that_leave_out_only_white_space(text, split_inside):
    end = 0
    for left, right in token_offsets(text, split_inside):
        assert end <= left < right
        gap, token, end = text[end:left], text[left:right], right
        assert all(char.isspace() or char in "\u200b\ufeff" for char in gap)
        assert not any(char.isspace() for char in token)
    assert all(char.isspace() or char in "\u200b\ufeff" for char in text[end:])


@given(TEXTS, st.booleans())
def test_tokenize_returns_the_text_at_the_offsets(text, split_inside):
    offsets = token_offsets(text, split_inside)
    assert tokenize(text, split_inside) == tuple(text[left:right] for left, right in offsets)


@given(TRICKY)
def test_an_accent_stays_with_the_character_before_it(text):
    starts = {left for left, _ in token_offsets(text)}
    for index in range(1, len(text)):
        if (
            text[index] == "\u0301"
            and not text[index - 1].isspace()
            and text[index - 1] != "\u200b"
        ):
            assert index not in starts


@given(TEXTS)
def test_splitting_inside_words_only_refines_the_tokens(text):
    coarse = {index for offsets in token_offsets(text) for index in offsets}
    fine = {index for offsets in token_offsets(text, split_inside=True) for index in offsets}
    assert coarse <= fine


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("They don't know.", "They do n't know ."),
        ("We’ll see John’s dogs' bowl", "We ’ll see John ’s dogs ' bowl"),
        ('He said, "Go."', 'He said , " Go . "'),
        ("'Twas 'fine', I cannot", "'T was ' fine ' , I can not"),
        ("Mr. Smith of the U.S. left. He came", "Mr. Smith of the U.S. left . He came"),
        ("about 1,000.50 km at 12:30, no. 5", "about 1,000.50 km at 12:30 , no. 5"),
        ("It cost $5 (or £4) - 10%", "It cost $ 5 ( or £ 4 ) - 10 %"),
        ("Wait... what--now?", "Wait ... what -- now ?"),
        ("a well-known a/b", "a well-known a/b"),
        ("do n't can not 's", "do n't can not 's"),
    ],
)
def test_treebank_rules(text, tokens):
    assert tokenize(text) == tuple(tokens.split())


def test_hyphens_and_slashes_inside_words_are_tokens():
    tokens = tokenize("a well-known 1815–16 a/b", split_inside=True)
    assert " ".join(tokens) == "a well - known 1815 – 16 a / b"


def test_pretokenized_pairs_are_left_as_they_are():
    from elmo_bench.tasks.snli.data import read_pairs

    rows = list(read_pairs(shared("data", "nli", "snli_dev_heldout.jsonl.gz")))
    text = [" ".join(segment) for row in rows for segment in row.segments]
    again = [" ".join(tokenize(line)) for line in text]
    assert sum(a != b for a, b in zip(text, again, strict=True)) <= 0.01 * len(text)
