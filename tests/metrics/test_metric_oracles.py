"""The metrics on recorded cases of the official scorers."""

import pytest

from elmo_bench.metrics import score_coref, score_ner, score_squad, score_srl
from tests.metrics.cases import METRICS, ORIGINS, official_cases

SCORE = {
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


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("name", METRICS)
def test_equals_the_official_scorer_on_every_case(name, origin):
    cases = official_cases(name, origin)
    assert len(cases) > 25
    wrong = {
        case["id"]: (scores, case["expected"])
        for case in cases
        if numbers(scores := SCORE[name](case))
        != pytest.approx(numbers(case["expected"]), abs=0.01, rel=0)
    }
    assert not wrong
