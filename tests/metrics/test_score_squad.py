import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_bench.metrics import score_squad

TEXTS = st.text(alphabet="ab theß–.- É", max_size=12)
quick = settings(deadline=None, max_examples=100)


def one(references, prediction):
    """Exact match and F1 of one question."""
    scores = score_squad({"q": references}, {"q": prediction})
    return scores["exact_match"], scores["f1"]


def test_hand_worked_mean_over_questions():
    # q1 exact: 100, 100. q2: one of the two predicted words is in the three-word answer, so
    # P = 1/2, R = 1/3, F = 2/5. q3 has no prediction: 0, 0. q4 is not a question.
    scores = score_squad(
        {"q1": ["Paris"], "q2": ["in late 1999"], "q3": ["Rome"]},
        {"q1": "paris", "q2": "year 1999", "q4": "Rome"},
    )
    assert scores == pytest.approx({"exact_match": 100 / 3, "f1": 140 / 3})


def test_questions_after_one_without_a_prediction_count():
    scores = score_squad({"q1": ["Rome"], "q2": ["Paris"]}, {"q2": "Paris"})
    assert scores == {"exact_match": 50, "f1": 50}


def test_each_measure_uses_its_own_best_reference():
    # F1 with "Broncos" is 2/3 and with "Denver Broncos team" 4/5; neither is an exact match.
    assert one(["Broncos", "Denver Broncos team"], "broncos team") == pytest.approx((0, 80))


@pytest.mark.parametrize(
    ("reference", "prediction"),
    [
        ("Eiffel Tower", "the  eiffel\ttower."),
        ("a-list", "alist"),  # punctuation is removed first, leaving no space
        ("well-known", "wellknown"),
        ("A–Z", "–z"),  # the en dash stays, and ends the word A
        ("a\N{COMBINING ACUTE ACCENT}", "\N{COMBINING ACUTE ACCENT}"),  # so does a combining accent
        ("vitamin A", "vitamin"),
    ],
)
def test_answers_equal_after_normalization(reference, prediction):
    assert one([reference], prediction) == (100, 100)


@pytest.mark.parametrize(
    ("reference", "prediction"),
    [
        ("well-known", "well known"),
        ("1914–1918", "1914-1918"),  # punctuation beyond ASCII stays
        ("caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\N{COMBINING ACUTE ACCENT}"),
        ("theatre", "the atre"),  # articles are whole words
        ("STRASSE", "straße"),  # lowercased, not case-folded
    ],
)
def test_answers_different_after_normalization(reference, prediction):
    assert one([reference], prediction) == (0, 0)


@pytest.mark.parametrize("prediction", ["", "the", "?!"])
def test_both_empty_after_normalization_match_exactly_with_f1_zero(prediction):
    assert one(["a"], prediction) == (100, 0)


def test_repeated_words_match_as_often_as_they_occur_on_both_sides():
    # "no no no" against "no": one shared token, P = 1/3, R = 1, F = 1/2.
    assert one(["no"], "no no no") == pytest.approx((0, 50))


def test_word_order_matters_only_to_exact_match():
    assert one(["John Smith"], "Smith John") == (0, 100)


@given(TEXTS, TEXTS)
@quick
def test_f1_is_symmetric_and_bounded(reference, prediction):
    exact, f1 = one([reference], prediction)
    assert one([prediction], reference) == pytest.approx((exact, f1))
    assert 0 <= f1 <= 100
    assert exact in (0, 100)


@given(TEXTS)
@quick
def test_a_reference_is_a_perfect_answer(text):
    exact, f1 = one(["x", f"word {text}"], f"word {text}")
    assert (exact, f1) == (100, 100)


@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS, TEXTS)
@quick
def test_an_additional_reference_never_lowers_a_score(references, prediction, extra):
    before, after = one(references, prediction), one([*references, extra], prediction)
    assert after[0] >= before[0]
    assert after[1] >= before[1]


@given(st.dictionaries(st.text(max_size=3), st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
@quick
def test_the_order_of_questions_does_not_matter(pairs):
    references = {q: [r] for q, (r, _) in pairs.items()}
    predictions = {q: p for q, (_, p) in pairs.items()}
    backwards = dict(reversed(references.items()))
    assert score_squad(references, predictions) == pytest.approx(
        score_squad(backwards, predictions)
    )


def test_no_questions_are_rejected():
    with pytest.raises(ValueError, match="references is empty"):
        score_squad({}, {"q": "Paris"})


@pytest.mark.parametrize("references", [[], "Paris"])
def test_a_question_without_a_list_of_answers_is_rejected(references):
    with pytest.raises(ValueError, match=r"question 'q': .* is not a list of reference answers"):
        one(references, "Paris")


def test_a_prediction_that_is_not_a_string_is_rejected():
    with pytest.raises(ValueError, match="question 'q': the prediction None is not a text"):
        one(["Paris"], None)
