from collections import Counter

import pytest

from elmo_bench.data.files import DataError
from elmo_bench.tasks.coref.data import from_hub, genre, merged, read, resolution
from tests.conftest import shared
from tests.corpora import COREF, read_text


def test_a_document_has_its_sentences_genre_and_speakers(tmp_path):
    (first, second), _ = read_text("coref", tmp_path / "a")
    assert [len(segment) for segment in first.segments] == [3, 4]
    assert (first.target.genre, first.target.speakers) == ("bc", ("Bob",) * 3 + ("Eve",) * 4)
    assert (second.id, second.target.part, second.target.clusters) == ("bc/x/00/x_0001_1", 1, ())


def test_a_mention_in_two_clusters_stays_in_the_first_and_is_counted(tmp_path):
    (first, _), skipped = read_text("coref", tmp_path / "a")
    assert first.target.clusters == (((0, 0), (3, 3), (5, 5)), ((2, 2), (5, 6)))
    assert skipped == {"mentions of a second cluster": 1}


def test_for_training_clusters_that_share_a_mention_are_merged(tmp_path):
    path, skipped = tmp_path / "a", Counter()
    path.write_text(COREF)
    first, _ = read(path, resolution("train", skipped))
    assert first.target.clusters == (((0, 0), (3, 3), (5, 5)), ((2, 2), (5, 6)))
    assert skipped == {"clusters merged with another": 1}


def test_merging_is_transitive_and_leaves_other_clusters_alone():
    a, b, c, d = ((n, n) for n in range(4))
    assert merged([(a, b), (c, d), (b, c)], Counter()) == ((a, b, c, d),)
    assert merged([(a, b), (c, d)], Counter()) == ((a, b), (c, d))
    assert merged([(a, a, b)], Counter()) == ((a, b),)


def test_escaped_punctuation_is_read_as_it_is(tmp_path):
    text = COREF.replace(" 1 's ", " 1 /. ").replace(" 2 dog ", " 2 /? ").replace("Ann", "/-")
    (first, _), _ = read_text("coref", tmp_path / "a", text)
    assert first.segments[0] == ("/-", ".", "?")


def test_a_name_without_folders_has_no_genre():
    assert (genre("nw/wsj/00"), genre("novel")) == ("nw", "none")


def test_an_empty_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="empty"):
        read_text("coref", tmp_path / "a", "")


@pytest.mark.parametrize(
    ("split", "documents", "tokens", "mentions"),
    [
        ("train", 177, 177_410, 23_320),
        ("dev", 30, 28_119, 3818),
        ("test", 30, 28_397, 3581),
    ],
)
def test_ontogum_is_complete(split, documents, tokens, mentions):
    skipped = Counter()
    path = shared("data", "coref", f"ontogum.{split}.v4_gold_conll.gz")
    examples = list(read(path, resolution("test", skipped)))
    found = sum(len(cluster) for example in examples for cluster in example.target.clusters)
    assert len(examples) == documents
    assert sum(len(example.target.speakers) for example in examples) == tokens
    assert found + skipped["mentions of a second cluster"] == mentions


def test_ontogum_has_15_genres():
    path = shared("data", "coref", "ontogum.train.v4_gold_conll.gz")
    examples = read(path, resolution("train", Counter()))
    assert len({example.target.genre for example in examples}) == 15


def test_hub_rows_give_the_same_examples_as_the_file(tmp_path):
    examples, skipped = read_text("coref", tmp_path / "a")
    ann, she = ["Ann", "'s", "dog"], ["She", "likes", "her", "dog"]
    spans = [[1, 0, 0], [1, 2, 2], [2, 2, 3], [3, 2, 3]]
    sentences = [
        {"part_id": 0, "words": ann, "speaker": "Bob", "coref_spans": [[1, 0, 0], [2, 2, 2]]},
        {"part_id": 0, "words": she, "speaker": "Eve", "coref_spans": spans},
        {"part_id": 1, "words": ["Yes"], "speaker": "Bob", "coref_spans": []},
    ]
    hub_skipped = Counter()
    rows = [{"document_id": "bc/x/00/x_0001", "sentences": sentences}]
    assert list(from_hub(rows, resolution("dev", hub_skipped))) == examples
    assert hub_skipped == skipped
