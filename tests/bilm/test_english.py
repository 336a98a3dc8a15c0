"""The biLM that ships with the project."""

import json
import re

import pytest

from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.perplexity import perplexity
from tests.conftest import PROJECT

FOLDER = PROJECT / "results" / "bilm" / "english"
SENTENCE = [
    "She",
    "had",
    "never",
    "seen",
    "the",
    "old",
    "man",
    "before",
    ",",
    "so",
    "she",
    "left",
    ".",
]


@pytest.fixture(scope="module")
def english():
    return BiLm.load("english")


def test_it_is_found_by_name_and_has_three_layers(english):
    [layers] = english.embed([SENTENCE])
    assert layers.shape == (3, len(SENTENCE), 256)


def test_a_sentence_is_more_likely_than_its_words_in_alphabetical_order(english):
    in_order, sorted_words = (perplexity(english, [s]) for s in (SENTENCE, sorted(SENTENCE)))
    assert in_order["forward"] < sorted_words["forward"] / 3
    assert in_order["backward"] < sorted_words["backward"] / 3


def test_the_model_card_shows_the_recorded_perplexities():
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    training = json.loads((FOLDER / "training.json").read_text())
    shown = re.findall(r"^\| .*? \|" + r" ([\d.]+) \|" * 6 + "$", card, re.MULTILINE)
    recorded = zip(
        training["perplexity"].values(), training["stateful_perplexity"].values(), strict=True
    )
    assert shown == [
        tuple(f"{value:.1f}" for kind in kinds for value in kind.values()) for kinds in recorded
    ]


def test_it_is_small_enough_to_ship():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 25e6
