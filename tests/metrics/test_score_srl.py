import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_bench.metrics import score_srl

WORDS = 10
LABELS = st.sampled_from(["A0", "A1", "C-A1", "R-A0", "C-R-A0", "AM-TMP", "V", "C-V"])
quick = settings(deadline=None, max_examples=60)


def sentence(*propositions, words=WORDS):
    """A sentence from (predicate, args) pairs."""
    return {
        "words": [f"w{i}" for i in range(words)],
        "propositions": [{"predicate": p, "args": args} for p, args in propositions],
    }


def score(gold, pred):
    """P, R, F1 of one proposition with predicate 2."""
    return prf([sentence((2, gold))], [sentence((2, pred))])


def prf(gold, pred):
    scores = score_srl(gold, pred)
    return scores["precision"], scores["recall"], scores["f1"]


@st.composite
def arguments(draw):
    """Spans of one proposition that do not overlap."""
    spans, start = [], 0
    while start < WORDS:
        end = min(WORDS - 1, start + draw(st.integers(0, 3)))
        if draw(st.booleans()):
            spans.append([start, end, draw(LABELS)])
        start = end + 1
    return spans


@st.composite
def corpora(draw):
    """Gold and pred with the same words and predicates."""
    gold, pred = [], []
    for predicates in draw(st.lists(st.sets(st.integers(0, WORDS - 1), max_size=3), max_size=3)):
        gold.append(sentence(*((p, draw(arguments())) for p in predicates)))
        pred.append(sentence(*((p, draw(arguments())) for p in predicates)))
    return gold, pred


def test_hand_worked_counts():
    # Right: A0. Wrong: A1 ends too late, AM-LOC should be AM-TMP, A2 is invented; V is not
    # counted. So P = 1/4, R = 1/3, F = 2/7.
    gold = [[0, 1, "A0"], [2, 2, "V"], [3, 5, "A1"], [7, 8, "AM-TMP"]]
    pred = [[0, 1, "A0"], [2, 2, "V"], [3, 6, "A1"], [7, 8, "AM-LOC"], [9, 9, "A2"]]
    assert score(gold, pred) == pytest.approx((25, 100 / 3, 200 / 7))


def test_a_continued_argument_counts_once_and_needs_all_its_pieces():
    gold = [[0, 1, "A1"], [4, 5, "C-A1"], [7, 7, "C-A1"]]
    assert score(gold, gold) == (100, 100, 100)
    # One predicted and one gold argument, the middle piece lost: nothing right.
    assert score(gold, [[0, 1, "A1"], [7, 7, "C-A1"]]) == (0, 0, 0)
    # Three separate arguments against one: nothing right either.
    assert score(gold, [[s, e, "A1"] for s, e, _ in gold]) == (0, 0, 0)


def test_a_continuation_joins_the_last_argument_of_its_label():
    # Gold arguments: A1[0], A1[3]+[5]. Had C-A1 joined the first A1, A1[3] would be right; the
    # prediction has A1[0] and A1[3], and only A1[0] is.
    gold = [[0, 0, "A1"], [3, 3, "A1"], [5, 5, "C-A1"]]
    assert score(gold, [[0, 0, "A1"], [3, 3, "A1"]]) == (50, 50, 50)


def test_a_continuation_without_a_start_becomes_the_argument():
    assert score([[0, 1, "A1"]], [[0, 1, "C-A1"]]) == (100, 100, 100)
    # ... which a later C-A1 joins, while a later A1 is another argument.
    assert score([[0, 0, "A1"], [4, 4, "C-A1"]], [[0, 0, "C-A1"], [4, 4, "C-A1"]])[2] == 100
    assert score([[0, 0, "A1"], [4, 4, "A1"]], [[0, 0, "C-A1"], [4, 4, "A1"]])[2] == 100


def test_adjacent_pieces_are_not_merged():
    assert score([[3, 6, "A1"]], [[3, 4, "A1"], [5, 6, "C-A1"]]) == (0, 0, 0)


def test_a_continued_reference_continues_the_reference():
    # Gold: A0[0] and R-A0[2]+[5]. Predicted: A0[0]+[5] and R-A0[2]. Nothing agrees.
    gold = [[0, 0, "A0"], [2, 2, "R-A0"], [5, 5, "C-R-A0"]]
    assert score(gold, [[0, 0, "A0"], [2, 2, "R-A0"], [5, 5, "C-A0"]]) == (0, 0, 0)


def test_the_verb_and_its_particle_are_never_counted():
    gold = [[0, 0, "A0"], [2, 2, "V"], [5, 5, "C-V"]]
    assert score(gold, [[0, 0, "A0"]]) == (100, 100, 100)
    # C-V without a V becomes V, so it is not an excess argument.
    assert score([[0, 0, "A0"]], [[0, 0, "A0"], [5, 5, "C-V"]]) == (100, 100, 100)


def test_label_styles_are_different_labels():
    assert score([[0, 1, "ARG0"]], [[0, 1, "A0"]]) == (0, 0, 0)


def test_no_arguments_on_either_side_is_zero():
    assert score([[2, 2, "V"]], [[2, 2, "V"]]) == (0, 0, 0)
    assert prf([], []) == (0, 0, 0)


def test_a_gold_proposition_that_pred_lacks_counts_as_missed():
    # Gold has A0 of predicate 1 and A0, A1 of predicate 4; pred has only the first: R = 1/3.
    gold = [sentence((1, [[0, 0, "A0"]]), (4, [[3, 3, "A0"], [5, 5, "A1"]]))]
    assert prf(gold, [sentence((1, [[0, 0, "A0"]]))]) == pytest.approx((100, 100 / 3, 50))


def test_a_predicted_proposition_that_gold_lacks_is_skipped():
    gold = [sentence((4, [[3, 3, "A0"]]))]
    pred = [sentence((1, [[0, 0, "A0"]]), (4, [[3, 3, "A0"]]), (8, [[9, 9, "A1"]]))]
    assert prf(gold, pred) == (100, 100, 100)


def test_the_inner_of_two_labels_on_a_span_is_kept():
    # (A0(A1*)) : A1, written later, is the inner bracket.
    assert score([[3, 4, "A0"], [3, 4, "A1"]], [[3, 4, "A1"]]) == (100, 100, 100)
    assert score([[3, 4, "A0"], [3, 4, "A1"]], [[3, 4, "A0"]]) == (0, 0, 0)


def test_an_empty_sentence_ends_the_evaluation():
    right, empty = sentence((2, [[0, 0, "A0"]])), sentence(words=0)
    wrong = sentence((2, [[0, 0, "A1"]]))
    assert prf([right, empty, right], [right, empty, wrong]) == (100, 100, 100)
    assert prf([right, right], [right, wrong]) == (50, 50, 50)


@given(corpora(), st.randoms(use_true_random=False))
@quick
def test_the_order_of_arguments_propositions_and_sentences_does_not_matter(corpus, random):
    gold, pred = corpus
    before = score_srl(gold, pred)
    for side in (gold, pred):
        for each in side:
            random.shuffle(each["propositions"])
            for proposition in each["propositions"]:
                random.shuffle(proposition["args"])
    order = random.sample(range(len(gold)), len(gold))
    assert score_srl([gold[i] for i in order], [pred[i] for i in order]) == before


@given(corpora())
@quick
def test_swapping_the_sides_swaps_precision_and_recall(corpus):
    precision, recall, f1 = prf(*corpus)
    assert prf(*reversed(corpus)) == pytest.approx((recall, precision, f1))


@given(corpora())
@quick
def test_gold_against_itself_is_perfect_unless_empty(corpus):
    gold, _ = corpus
    labels = {a[2] for s in gold for p in s["propositions"] for a in p["args"]}
    best = 100.0 if labels - {"V", "C-V"} else 0.0
    assert prf(gold, gold) == (best, best, best)


def test_different_numbers_of_sentences_are_rejected():
    with pytest.raises(ValueError, match="gold has 1 sentences but pred has 2"):
        score_srl([sentence()], [sentence(), sentence()])


def test_different_words_are_reported_with_both():
    gold, pred = sentence(), sentence()
    pred["words"][3] = "other"
    with pytest.raises(ValueError, match="sentence 1, word 3: gold has 'w3' but pred has 'other'"):
        score_srl([gold, gold], [gold, pred])


def test_different_numbers_of_words_are_rejected():
    with pytest.raises(ValueError, match="sentence 0: gold has 10 words but pred has 9"):
        score_srl([sentence()], [sentence(words=9)])


@pytest.mark.parametrize("key", ["words", "propositions"])
def test_a_sentence_with_a_missing_key_is_rejected(key):
    broken = {name: value for name, value in sentence().items() if name != key}
    with pytest.raises(ValueError, match=f"pred sentence 0 has no '{key}'"):
        score_srl([sentence()], [broken])


@pytest.mark.parametrize("key", ["predicate", "args"])
def test_a_proposition_with_a_missing_key_is_rejected(key):
    broken = sentence((2, []))
    del broken["propositions"][0][key]
    with pytest.raises(ValueError, match=f"gold sentence 0, proposition 0 has no '{key}'"):
        score_srl([broken], [sentence((2, []))])


@pytest.mark.parametrize(
    "arg",
    [[8, 10, "A0"], [5, 4, "A0"], [-1, 0, "A0"], [0, 1], [0, 1, ""], [0, 1, "A0", "A1"]],
)
def test_an_invalid_argument_is_reported_with_its_position(arg):
    with pytest.raises(ValueError, match=r"pred sentence 0, proposition 0: .* within 10 words"):
        score([], [arg])


def test_overlapping_arguments_are_rejected():
    with pytest.raises(ValueError, match=r"\(0, 5, 'A0'\) and \(3, 4, 'A1'\) overlap"):
        score([[3, 4, "A1"], [0, 5, "A0"]], [])


def test_a_predicate_outside_the_sentence_is_rejected():
    with pytest.raises(ValueError, match="gold sentence 0, proposition 0: predicate 10 is outside"):
        score_srl([sentence((10, []))], [sentence()])


def test_a_repeated_predicate_is_rejected():
    with pytest.raises(ValueError, match="proposition 1: a second proposition of predicate 4"):
        score_srl([sentence((4, []), (4, []))], [sentence()])
