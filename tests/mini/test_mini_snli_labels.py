import json
from collections import Counter

import pytest

from elmo_bench.mini.draw import Draw
from elmo_bench.mini.population import build_world
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.views.scene_pairs import LABELS, ScenePairs


def words(sentence) -> Counter[str]:
    return Counter(word.lower() for word in sentence.words if word not in ("a", "the", "."))


@pytest.mark.parametrize("label", LABELS)
def test_a_hypothesis_that_adds_nothing_to_its_premise_is_entailed(label):
    """The text must state what a label depends on; otherwise the label could not be predicted."""
    pairs = ScenePairs(Teller(build_world(1), Draw(1, "snli", "labels"), "train"))
    for _ in range(400):
        premise, hypothesis = pairs.pair(label)
        if "not" not in words(hypothesis) and not words(hypothesis) - words(premise):
            assert label == "entailment", json.dumps([premise.words, hypothesis.words])
