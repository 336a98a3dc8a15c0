import json
from collections import Counter

import pytest

from elmo_bench.data.files import DataError
from elmo_bench.tasks.snli.data import from_hub, read
from tests.conftest import shared
from tests.corpora import read_text


def test_the_parse_gives_the_tokens_and_text_is_tokenized_without_one(tmp_path):
    examples, _ = read_text("snli", tmp_path / "a.jsonl")
    assert examples[0].segments == (
        ("Two", "dogs", "run", "(", "fast", ")", "."),
        ("Dogs", "do", "n't", "sit", "."),
    )


def test_pairs_without_a_gold_label_are_skipped_and_counted(tmp_path):
    examples, skipped = read_text("snli", tmp_path / "a.jsonl")
    assert [example.target for example in examples] == ["entailment", "neutral"]
    assert skipped == {"pairs without a gold label": 1}


def test_pairs_with_an_empty_sentence_are_skipped_and_counted(tmp_path):
    rows = [{"gold_label": "neutral", "sentence1": s, "sentence2": "A man."} for s in ("", "Hi.")]
    _, skipped = read_text("snli", tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    assert skipped == {"pairs with an empty sentence": 1}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("nonsense", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"gold_label": "maybe", "sentence1": "a", "sentence2": "b"}', "label 'maybe'"),
        ('{"gold_label": "neutral", "sentence1": "a"}', "no text under 'sentence2'"),
        ('{"gold_label": "neutral", "sentence1": 1, "sentence2": "b"}', "no text under"),
    ],
)
def test_damage_is_reported_with_its_line(tmp_path, line, problem):
    fine = '{"gold_label": "neutral", "sentence1": "a", "sentence2": "b"}\n'
    with pytest.raises(DataError, match=f"line 2: {problem}"):
        read_text("snli", tmp_path / "a", fine + line)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("snli_dev_as_train", 8821),
        ("snli_dev_heldout", 1021),
        ("snli_1.0_test", 9824),
        ("cad_nli_train", 8330),
    ],
)
def test_the_real_pairs_are_complete(name, count):
    assert sum(1 for _ in read(shared("data", "nli", f"{name}.jsonl.gz"), Counter())) == count


def test_hub_labels_may_be_names_or_numbers_and_minus_one_means_no_label():
    pair = {"premise": "A man.", "hypothesis": "A cat."}
    rows = [pair | {"label": label} for label in (0, "neutral", 2, -1)]
    skipped = Counter()
    examples = list(from_hub(rows, skipped))
    assert [example.target for example in examples] == ["entailment", "neutral", "contradiction"]
    assert skipped == {"pairs without a gold label": 1}
