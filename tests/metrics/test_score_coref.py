from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_bench.metrics import score_coref

A, B, C, D, E = ([i, i] for i in range(5))
quick = settings(deadline=None, max_examples=60)


def document(gold, pred):
    return {"sentences": [["w"] * 6, ["w"] * 4], "gold": gold, "pred": pred}


def f1s(gold, pred):
    """F1 of MUC, B-cubed and CEAFe of one document."""
    scores = score_coref([document(gold, pred)])
    return tuple(scores[metric]["f1"] for metric in ("muc", "b3", "ceafe"))


def precision_recall(metric, *pairs):
    scores = score_coref([document(gold, pred) for gold, pred in pairs])[metric]
    return scores["precision"], scores["recall"]


@st.composite
def clusterings(draw):
    """Disjoint clusters of some of the possible mentions."""
    spans = st.tuples(st.integers(0, 4), st.integers(0, 1)).map(lambda s: [s[0], s[0] + s[1]])
    mentions = draw(st.lists(spans, unique_by=tuple, max_size=7))
    clusters = {}
    for mention in mentions:
        clusters.setdefault(draw(st.integers(0, 3)), []).append(mention)
    return list(clusters.values())


DOCUMENTS = st.lists(st.builds(document, clusterings(), clusterings()), max_size=3)


# Gold {A B C} {D E}; predicted {A B} {C D E}, in the three tests below.
GOLD, PRED = [[A, B, C], [D, E]], [[A, B], [C, D, E]]


def test_hand_worked_muc():
    # Links: gold 2 + 1, predicted 1 + 2; shared A-B and D-E. P = R = 2/3.
    assert precision_recall("muc", (GOLD, PRED)) == pytest.approx((200 / 3, 200 / 3))


def test_hand_worked_b_cubed():
    # Precision of A, B: 2/2 each; of C: 1/3; of D, E: 2/3 each: (2 + 1/3 + 4/3) / 5 = 11/15.
    # Recall of A, B: 2/3 each; of C: 1/3; of D, E: 2/2 each: (4/3 + 1/3 + 2) / 5 = 11/15.
    assert precision_recall("b3", (GOLD, PRED)) == pytest.approx((1100 / 15, 1100 / 15))


def test_hand_worked_ceafe():
    # phi4({ABC},{AB}) = 4/5 and phi4({DE},{CDE}) = 4/5; the other pairing has 2/6 + 0. So the
    # best alignment has 8/5, over two clusters on each side.
    assert precision_recall("ceafe", (GOLD, PRED)) == pytest.approx((80, 80))


def test_the_conll_score_is_the_mean_of_the_three():
    scores = score_coref([document(GOLD, PRED)])
    assert scores["conll_f1"] == pytest.approx((200 / 3 + 1100 / 15 + 80) / 3)
    assert set(scores) == {"muc", "b3", "ceafe", "conll_f1"}


def test_ceafe_aligns_optimally_not_greedily():
    # {A B C D E} with {A B C x y z} is the best single pair (6/11), yet leaves {x y z} with
    # {D E}: 0. The optimum is {ABCDE}-{DE} 4/7 plus {xyz}-{ABCxyz} 6/9.
    x, y, z = [6, 6], [7, 7], [8, 8]
    precision, recall = precision_recall(
        "ceafe", ([[A, B, C, D, E], [x, y, z]], [[A, B, C, x, y, z], [D, E]])
    )
    assert precision == recall == pytest.approx(100 * (4 / 7 + 6 / 9) / 2)


def test_numbers_are_summed_over_documents_before_dividing():
    # B-cubed recall: 2 of 2 mentions and 0 of 3, so 2/5, not the mean of 1 and 0.
    assert precision_recall("b3", ([[A, B]], [[A, B]]), ([[A, B, C]], [])) == (100, 40)


def test_singletons_count_except_for_muc():
    # Gold {A B} {C}; predicted {A B} {D}: MUC sees one link on each side. B-cubed has 2 of 3
    # mentions right on each side, CEAFe 1 of 2 clusters.
    assert f1s([[A, B], [C]], [[A, B], [D]]) == pytest.approx((100, 200 / 3, 50))


def test_twinless_mentions_count_in_all_denominators_of_precision():
    # Predicted {A B X}, gold {A B}. MUC 1/2; B-cubed (2/3 + 2/3 + 0) / 3 = 4/9; CEAFe 4/5.
    pairs = ([[A, B]], [[A, B, [9, 9]]])
    assert precision_recall("muc", pairs) == (50, 100)
    assert precision_recall("b3", pairs) == pytest.approx((400 / 9, 100))
    assert precision_recall("ceafe", pairs) == pytest.approx((80, 80))


def test_no_clusters_on_either_side_is_zero():
    assert f1s([], []) == (0, 0, 0)
    assert score_coref([])["conll_f1"] == 0


@pytest.mark.parametrize("pred", [[[A, B, C], [C, D]], [[D, C], [C, A, B]]])
def test_a_repeated_gold_mention_stays_in_the_first_cluster(pred):
    # C stays with A and B, whatever the order of the lists: gold {A B C} {D E}, and pred is then
    # {A B C} {D}.
    assert f1s(GOLD, pred) == f1s(GOLD, [[A, B, C], [D]])


def test_at_the_same_token_the_one_word_mention_opens_first():
    # Both clusters open at word 0: [0,0] is read before [0,3], so C stays with A.
    assert f1s([[A, C], [[0, 3], D]], [[[0, 3], C, D], [A, C]]) == (100, 100, 100)


def test_a_cluster_left_empty_is_dropped():
    assert f1s([[A, B]], [[A, B], [B]]) == (100, 100, 100)


def test_a_repeated_mention_that_is_not_in_gold_keeps_all_copies():
    # {A B X} {C D X} against {A B} {C D}: MUC 2 of 4 links; B-cubed (4 * 2/3) / 6 = 4/9.
    x = [9, 9]
    pairs = ([[A, B], [C, D]], [[A, B, x], [C, D, x]])
    assert precision_recall("muc", pairs) == (50, 100)
    assert precision_recall("b3", pairs) == pytest.approx((400 / 9, 100))


def test_a_mention_in_two_gold_clusters_links_only_within_the_later_one():
    # Gold {A B} {B C}: B belongs to the second, so the predicted A-B is not a link, but B-C is.
    assert precision_recall("muc", ([[A, B], [B, C]], [[A, B]])) == (0, 0)
    assert precision_recall("muc", ([[A, B], [B, C]], [[B, C]])) == (100, 50)


def ceafe_by_trying_all(gold, pred):
    few, many = sorted((gold, pred), key=len)
    return max(
        sum(
            2 * sum(mention in right for mention in left) / (len(left) + len(right))
            for left, right in zip(few, order, strict=False)
        )
        for order in permutations(many)
    )


@given(clusterings(), clusterings())
@quick
def test_ceafe_equals_trying_all_alignments(gold, pred):
    best = ceafe_by_trying_all(gold, pred)
    expected = (100 * best / max(1, len(pred)), 100 * best / max(1, len(gold)))
    assert precision_recall("ceafe", (gold, pred)) == pytest.approx(expected)


@given(DOCUMENTS, st.randoms(use_true_random=False))
@quick
def test_order_does_not_matter(documents, random):
    before = score_coref(documents)
    for each in documents:
        for side in ("gold", "pred"):
            for cluster in each[side]:
                random.shuffle(cluster)
            random.shuffle(each[side])
    random.shuffle(documents)
    after = score_coref(documents)
    for metric in ("muc", "b3", "ceafe"):
        assert after[metric] == pytest.approx(before[metric])


@given(DOCUMENTS)
@quick
def test_swapping_the_sides_swaps_precision_and_recall(documents):
    swapped = [{**each, "gold": each["pred"], "pred": each["gold"]} for each in documents]
    one, other = score_coref(documents), score_coref(swapped)
    for metric in ("muc", "b3", "ceafe"):
        assert one[metric]["precision"] == pytest.approx(other[metric]["recall"])
    assert one["conll_f1"] == pytest.approx(other["conll_f1"])


@given(DOCUMENTS)
@quick
def test_gold_against_itself_is_perfect_unless_empty(documents):
    scores = score_coref([{**each, "pred": each["gold"]} for each in documents])
    clusters = [cluster for each in documents for cluster in each["gold"]]
    assert scores["b3"]["f1"] == pytest.approx(100 if clusters else 0)
    assert scores["ceafe"]["f1"] == pytest.approx(100 if clusters else 0)
    assert scores["muc"]["f1"] == (100 if any(len(cluster) > 1 for cluster in clusters) else 0)


@given(DOCUMENTS)
@quick
def test_all_scores_are_between_0_and_100(documents):
    scores = score_coref(documents)
    numbers = [n for metric in ("muc", "b3", "ceafe") for n in scores[metric].values()]
    assert all(0 <= n <= 100 + 1e-9 for n in [*numbers, scores["conll_f1"]])


@pytest.mark.parametrize("key", ["sentences", "gold", "pred"])
def test_a_document_with_a_missing_key_is_rejected(key):
    broken = {name: value for name, value in document([], []).items() if name != key}
    with pytest.raises(ValueError, match=f"document 1 has no '{key}'"):
        score_coref([document([], []), broken])


@pytest.mark.parametrize("mention", [[9, 10], [3, 2], [-1, 0], [1], [1, 2, 3]])
def test_an_invalid_mention_is_reported_with_its_position(mention):
    with pytest.raises(ValueError, match=r"document 0: the pred mention .* within 10 words"):
        score_coref([document([], [[mention]])])


def test_a_gold_cluster_that_repeats_a_mention_is_rejected():
    with pytest.raises(ValueError, match="document 0: a gold cluster repeats a mention"):
        score_coref([document([[A, B, A]], [])])


def test_more_than_ten_repeats_over_all_documents_are_rejected():
    repeating = document([[A, B]], [[A, B, A, A, A, A, A]])  # five repeats
    assert score_coref([repeating, repeating])["conll_f1"] == pytest.approx(100)
    with pytest.raises(ValueError, match="document 2: more than 10 repeated mentions"):
        score_coref([repeating] * 3)
