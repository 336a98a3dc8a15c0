from collections import Counter

import pytest

from elmo_bench.data.files import DataError
from elmo_bench.tasks.sst5.data import from_hub, read, read_trees
from tests.conftest import shared
from tests.corpora import SST5, read_text


def sst5(tmp_path, split, min_phrase_length):
    path = tmp_path / "trees.txt"
    path.write_text(SST5)
    skipped = Counter()
    return list(read(path, split, min_phrase_length, skipped)), skipped


def test_dev_has_whole_sentences_with_the_label_of_the_root(tmp_path):
    examples, _ = sst5(tmp_path, "dev", 2)
    assert [(example.segments[0], example.target) for example in examples] == [
        (("It", "'s", "a", "lovely", "film", "."), 3),
        (("No", "fun", "."), 1),
    ]


def test_training_has_every_sufficiently_long_phrase_once(tmp_path):
    examples, skipped = sst5(tmp_path, "train", 1)
    found = [(example.segments[0], example.target) for example in examples]
    assert (("a", "lovely", "film"), 4) in found
    assert len(found) == len(set(found)) == 15
    assert skipped == {"phrases seen before with the same label": 1}  # the second period


def test_short_phrases_are_skipped_and_counted(tmp_path):
    examples, skipped = sst5(tmp_path, "train", 3)
    assert {len(example.segments[0]) for example in examples} == {3, 4, 5, 6}
    assert skipped["phrases of fewer than 3 tokens"] == 11


def test_training_on_whole_sentences_reads_the_same_as_dev(tmp_path):
    assert sst5(tmp_path, "train", None) == sst5(tmp_path, "dev", 1)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("(5 a)", "label '5', expected 0 to 4"),
        ("(2 (2 a) (2 b)", "ends with 1 open bracket"),
        ("(2 a) b", "'b' after"),
        ("(2 a b)", "'b' after 'word'"),
        ("(2 (2 a) b)", "'b' after"),
        ("(2 )", "'\\)' after 'label'"),
        ("2 a", "'2' after 'nothing'"),
    ],
)
def test_damage_is_reported_with_its_line(tmp_path, line, problem):
    with pytest.raises(DataError, match=f"line 2: .*{problem}"):
        read_text("sst5", tmp_path / "a", f"(2 a)\n{line}\n")


def test_an_empty_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no trees"):
        read_text("sst5", tmp_path / "a", "\n")


@pytest.mark.parametrize(
    ("name", "trees", "nodes"),
    [("train.txt.gz", 8544, 318_582), ("dev.txt", 1101, None), ("test.txt", 2210, None)],
)
def test_the_treebank_is_complete(name, trees, nodes):
    phrases = [found for _, _, found in read_trees(shared("data", "sst", name))]
    assert len(phrases) == trees
    assert nodes in (None, sum(map(len, phrases)))


def test_hub_rows_have_text_and_a_label():
    rows = [{"text": "no fun .", "label": 1}, {"text": "lovely", "label": "very positive"}]
    assert [example.target for example in from_hub(rows)] == [1, 4]


def test_a_hub_label_outside_the_five_levels_is_an_error():
    with pytest.raises(DataError, match="row 0: label 5"):
        list(from_hub([{"text": "no", "label": 5}]))
