import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_bench.metrics import score_ner

TAGS = st.sampled_from(["O", "B-PER", "I-PER", "B-creative-work", "I-creative-work"])
# Pairs of equally long sentences, legal or not.
PAIRS = st.lists(st.lists(st.tuples(TAGS, TAGS), max_size=8), max_size=4)
quick = settings(deadline=None, max_examples=60)  # the first call imports scikit-learn


def split(pairs):
    return [[g for g, _ in s] for s in pairs], [[p for _, p in s] for s in pairs]


def prf(scores):
    return scores["precision"], scores["recall"], scores["f1"]


def test_hand_worked_counts_overall_and_per_type():
    # Gold: PER[0,1], LOC[3], PER[0] of the second sentence. Predicted: PER[0,1], ORG[3], PER[0],
    # PER[2]. Right: PER[0,1] and PER[0], so P = 2/4, R = 2/3, F = 4/7; PER alone P = 2/3, R = 1.
    gold = [["B-PER", "I-PER", "O", "B-LOC"], ["B-PER", "O", "O"]]
    pred = [["B-PER", "I-PER", "O", "B-ORG"], ["B-PER", "O", "B-PER"]]
    scores = score_ner(gold, pred)
    assert prf(scores) == pytest.approx((50, 200 / 3, 400 / 7))
    assert prf(scores["per_type"]["PER"]) == pytest.approx((200 / 3, 100, 80))
    assert prf(scores["per_type"]["LOC"]) == prf(scores["per_type"]["ORG"]) == (0, 0, 0)
    assert set(scores["per_type"]) == {"PER", "LOC", "ORG"}


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        (["B-PER", "I-PER"], ["I-PER", "I-PER"]),  # at a sentence start
        (["O", "B-PER"], ["O", "I-PER"]),  # after O
        (["B-PER", "B-LOC"], ["B-PER", "I-LOC"]),  # after another type: two phrases
    ],
)
def test_an_illegal_i_begins_a_phrase(gold, pred):
    assert prf(score_ner([gold], [pred])) == (100, 100, 100)


def test_b_inside_a_phrase_splits_it():
    # One gold phrase [0,1], two predicted phrases [0] and [1]: none right.
    assert prf(score_ner([["B-PER", "I-PER"]], [["B-PER", "B-PER"]])) == (0, 0, 0)


def test_no_phrase_crosses_a_sentence_boundary():
    gold = [["B-PER"], ["B-PER"]]
    assert prf(score_ner(gold, [["B-PER"], ["I-PER"]])) == (100, 100, 100)


def test_hyphens_belong_to_the_type():
    # If the type were cut at its last hyphen, both sides would be `work` phrases.
    gold, pred = [["B-creative-work", "I-creative-work"]], [["B-other-work", "I-other-work"]]
    assert set(score_ner(gold, pred)["per_type"]) == {"creative-work", "other-work"}
    assert prf(score_ner(gold, gold)) == (100, 100, 100)


@pytest.mark.parametrize("tags", [[], [[]], [["O", "O"], ["O"]]])
def test_nothing_to_find_and_nothing_found_is_zero(tags):
    assert score_ner(tags, tags) == {"precision": 0, "recall": 0, "f1": 0, "per_type": {}}


def test_tuples_are_accepted():
    assert prf(score_ner((("B-PER",),), (("B-PER",),))) == (100, 100, 100)


def test_scores_are_plain_floats():
    scores = score_ner([["B-PER"]], [["B-PER"]])
    assert {type(number) for number in prf(scores) + prf(scores["per_type"]["PER"])} == {float}


def phrases(sentences):
    """Phrases by definition: a tag continues one only if it is I- after a tag of the same type."""
    found = set()
    for number, tags in enumerate(sentences):
        start = 0
        for i, tag in enumerate(tags):
            if tag[0] != "I" or i == 0 or tags[i - 1][1:] != tag[1:]:
                start = i
            if tag != "O" and (i + 1 == len(tags) or tags[i + 1] != "I" + tag[1:]):
                found.add((number, start, i, tag[2:]))
    return found


@given(PAIRS)
@quick
def test_equals_counting_phrases_by_definition(pairs):
    gold, pred = split(pairs)
    expected, found = phrases(gold), phrases(pred)
    right = len(expected & found)
    precision = 100 * right / max(1, len(found))
    recall = 100 * right / max(1, len(expected))
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    assert prf(score_ner(gold, pred)) == pytest.approx((precision, recall, f1))


@given(PAIRS)
@quick
def test_swapping_the_sides_swaps_precision_and_recall(pairs):
    gold, pred = split(pairs)
    precision, recall, f1 = prf(score_ner(gold, pred))
    assert prf(score_ner(pred, gold)) == pytest.approx((recall, precision, f1))


@given(PAIRS)
@quick
def test_gold_against_itself_is_perfect_unless_empty(pairs):
    gold, _ = split(pairs)
    best = 100.0 if any(tag != "O" for tags in gold for tag in tags) else 0.0
    assert prf(score_ner(gold, gold)) == (best, best, best)


@given(PAIRS, st.randoms(use_true_random=False))
@quick
def test_the_order_of_sentences_does_not_matter(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    assert score_ner(*split(pairs)) == score_ner(*split(shuffled))


def test_different_numbers_of_sentences_are_rejected():
    with pytest.raises(ValueError, match="gold has 2 sentences but pred has 1"):
        score_ner([["O"], ["O"]], [["O"]])


def test_different_numbers_of_tags_are_reported_with_the_sentence():
    with pytest.raises(ValueError, match="sentence 1: gold has 2 tags but pred has 1"):
        score_ner([["O"], ["O", "O"]], [["O"], ["O"]])


@pytest.mark.parametrize("tag", ["PER", "B", "I-", "S-PER", "E-PER", "", "o"])
def test_an_invalid_tag_is_reported_with_its_position(tag):
    with pytest.raises(ValueError, match=f"pred sentence 1, word 0: '{tag}'"):
        score_ner([["O"], ["O"]], [["O"], [tag]])


def test_a_flat_list_of_tags_is_rejected():
    with pytest.raises(ValueError, match="gold sentence 0 is the string 'O'"):
        score_ner(["O", "O"], ["O", "O"])
