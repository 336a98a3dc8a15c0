"""The metrics on recorded cases of the official scorers, if those files are available."""

import json

import pytest

from elmo_bench.metrics import score_coref, score_ner, score_squad, score_srl
from tests.conftest import shared

METRICS = {
    "ner": lambda case: score_ner(case["gold"], case["pred"]),
    "srl": lambda case: score_srl(case["gold"], case["pred"]),
    "coref": lambda case: score_coref(case["documents"]),
    "squad": lambda case: score_squad(case["references"], case["predictions"]),
}


def numbers(scores, path=()):
    """Nested scores as one flat dict."""
    if not isinstance(scores, dict):
        return {path: scores}
    return {k: v for key in scores for k, v in numbers(scores[key], (*path, key)).items()}


@pytest.mark.parametrize("name", METRICS)
def test_equals_the_official_scorer_on_every_case(name):
    cases = [json.loads(line) for line in shared("oracles", f"{name}.jsonl").open()]
    assert len(cases) >= 60
    wrong = {
        case["id"]: (scores, case["expected"])
        for case in cases
        if numbers(scores := METRICS[name](case))
        != pytest.approx(numbers(case["expected"]), abs=0.01, rel=0)
    }
    assert not wrong
