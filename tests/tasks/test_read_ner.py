import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from elmo_bench.data.files import DataError
from elmo_bench.data.tags import to_iob2
from elmo_bench.tasks.ner.data import from_hub, read
from tests.conftest import shared
from tests.corpora import read_text

TAGS = st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]))


def test_iob1_becomes_iob2_and_docstart_is_not_a_sentence(tmp_path):
    examples, _ = read_text("ner", tmp_path / "eng.train")
    assert [example.segments[0] for example in examples] == [
        ("EU", "rejects", "German", "calls"),
        ("Peter", "Blackburn"),
    ]
    assert [example.target for example in examples] == [
        ("B-ORG", "O", "B-MISC", "O"),
        ("B-PER", "I-PER"),
    ]


def test_adjacent_entities_of_one_type_stay_separate():
    assert to_iob2(["I-PER", "B-PER", "I-PER"]) == ["B-PER", "B-PER", "I-PER"]


@given(TAGS)
def test_converted_tags_are_valid_iob2_and_stay_the_same(tags):
    converted = to_iob2(tags)
    for before, tag in zip(("O", *converted), converted, strict=False):
        assert tag[0] != "I" or before[2:] == tag[2:]
    assert to_iob2(converted) == converted


@given(TAGS)
def test_iob2_keeps_the_entities_that_conlleval_sees(tags):
    assert get_entities(to_iob2(tags)) == get_entities(tags)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "contains no sentences"),
        ("a\n", "line 1: 1 columns"),
        ("a O\nb X O\n", "line 2: 3 columns, but the file began with 2"),
        ("a O\nb S-PER\n", "line 2: tag 'S-PER'"),
        ("a O\nb I-\n", "line 2: tag 'I-'"),
        ("a O\n\tO\n", "line 2: an empty column"),
    ],
)
def test_damage_is_reported_with_its_line(tmp_path, text, problem):
    with pytest.raises(DataError, match=problem):
        read_text("ner", tmp_path / "a", text)


def test_a_token_may_contain_a_non_breaking_space(tmp_path):
    examples, _ = read_text("ner", tmp_path / "a", "8\u00a01/2 O\n")
    assert examples[0].segments == (("8\u00a01/2",),)


@pytest.mark.parametrize(("split", "count"), [("train", 3394), ("dev", 1009), ("test", 1287)])
def test_wnut17_is_complete(split, count):
    examples = list(read(shared("data", "ner", f"wnut17.{split}.conll")))
    assert len(examples) == count
    assert len({tag[2:] for example in examples for tag in example.target} - {""}) == 6


def test_hub_tags_may_be_names_or_numbers():
    rows = [
        {"id": "0", "tokens": ["EU", "said"], "ner_tags": [3, 0]},
        {"id": "1", "tokens": ["Ann", "Lee"], "ner_tags": ["B-PER", "I-PER"]},
        {"id": "2", "tokens": ["-DOCSTART-"], "ner_tags": ["O"]},
    ]
    assert [example.target for example in from_hub(rows)] == [("B-ORG", "O"), ("B-PER", "I-PER")]
