from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_bench.data.files import DataError
from elmo_bench.tasks.srl.data import SrlTarget, from_hub, read, without_overlap
from tests.conftest import shared
from tests.corpora import SRL, read_text

ARGUMENTS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from("AB")).map(
        lambda a: (min(a[:2]), max(a[:2]), a[2])
    )
)


def test_there_is_one_example_per_verb(tmp_path):
    path = tmp_path / "a"
    path.write_text(SRL)
    skipped = Counter()
    [example] = read(path, all_predicates=False, skipped=skipped)
    assert example.target == SrlTarget(1, ((0, 0, "ARG0"), (1, 1, "V"), (2, 3, "ARG1")))
    assert skipped == {"predicates that are no verbs": 1}


def test_all_predicates_can_be_included(tmp_path):
    examples, _ = read_text("srl", tmp_path / "a")
    assert [example.id for example in examples] == ["nw/a/00/a_0001_0:0:1", "nw/a/00/a_0001_0:0:5"]


def test_an_argument_around_another_is_left_out_and_counted(tmp_path):
    examples, skipped = read_text("srl", tmp_path / "a")
    assert examples[1].target.arguments == ((0, 0, "ARG0"), (5, 5, "V"))
    assert skipped == {"arguments around another argument": 1}


def test_of_two_labels_on_the_same_words_the_inner_one_is_kept(tmp_path):
    examples, _ = read_text(
        "srl", tmp_path / "a", SRL.replace("(ARG0*) (ARG0*)", "(A(Z*)) (Z(A*))")
    )
    assert [example.target.arguments[0] for example in examples] == [(0, 0, "Z"), (0, 0, "A")]


@given(ARGUMENTS)
def test_kept_arguments_never_overlap_and_each_dropped_one_overlaps_a_kept_one(arguments):
    kept = without_overlap(arguments)
    for first, second in pairwise(kept):
        assert first[1] < second[0]
    for start, end, _ in set(arguments) - set(kept):
        assert any(start <= other[1] and other[0] <= end for other in kept)


def test_an_empty_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="empty"):
        read_text("srl", tmp_path / "a", "")


@pytest.mark.parametrize(
    ("split", "verbal", "rest"),
    [("train", 31_082, 9269), ("dev", 3792, 1160), ("test", 3648, 1143)],
)
def test_propbank_on_the_web_treebank_is_complete(split, verbal, rest):
    skipped = Counter()
    path = shared("data", "srl", f"ewt-propbank.{split}.gold_conll.gz")
    assert sum(1 for _ in read(path, all_predicates=False, skipped=skipped)) == verbal
    assert skipped == {"predicates that are no verbs": rest}


@pytest.mark.slow
def test_the_web_treebank_has_59_labels():
    labels = set()
    for split in ("train", "dev", "test"):
        path = shared("data", "srl", f"ewt-propbank.{split}.gold_conll.gz")
        for example in read(path, all_predicates=True, skipped=Counter()):
            labels.update(label for _, _, label in example.target.arguments)
    assert len(labels) == 59


def test_hub_rows_give_the_same_examples_as_the_file(tmp_path):
    examples, _ = read_text("srl", tmp_path / "a")
    frames = [
        {"verb": "chase", "frames": ["B-ARG0", "B-V", "B-ARG1", "I-ARG1", "O", "O", "O"]},
        {"verb": "sight", "frames": ["B-ARG0", "O", "O", "O", "O", "B-V", "O"]},
    ]
    sentence = {
        "part_id": 0,
        "words": list(examples[0].segments[0]),
        "pos_tags": ["NNS", "VBP", "JJ", "NNS", "IN", "NN", "."],
        "srl_frames": frames,
    }
    rows = [{"document_id": "nw/a/00/a_0001", "sentences": [sentence]}]
    assert list(from_hub(rows, True, Counter())) == examples
