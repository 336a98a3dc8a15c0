from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_bench.task import collate
from elmo_bench.tasks.squad.attention import SelfAttention, Trilinear
from elmo_bench.tasks.squad.data import cut_paragraphs, parse
from elmo_bench.tasks.squad.model import best_spans
from tests.tasks.building import new_model, new_task
from tests.tasks.cases.squad import EXAMPLES


@pytest.fixture
def task():
    return new_task("squad")


def test_predicted_tokens_become_the_text_of_the_answer(task):
    answers = task.answers(EXAMPLES, [task.gold(example) for example in EXAMPLES])
    assert answers["What was 1999?"] == "its best year"


def test_a_question_without_an_aligned_answer_counts_in_the_score_but_not_in_the_loss(task):
    model = new_model(task, EXAMPLES).eval()
    target = replace(EXAMPLES[2].target, answers=(" ",), spans=())
    examples = [*EXAMPLES[:2], EXAMPLES[2]._replace(target=target)]
    with_it, without = (model(collate(batch), {}) for batch in (examples, examples[:2]))
    torch.testing.assert_close(with_it.loss, without.loss)
    assert len(with_it.predictions) == 3
    gold = [task.gold(example) for example in examples]
    assert task.score(examples, gold)["f1"] == pytest.approx(100 * 2 / 3)


def test_a_paragraph_with_two_questions_is_encoded_once():
    assert len(collate(EXAMPLES).segments) == 2 + 4


@given(st.integers(1, 6), st.integers(0, 2**31))
def test_the_best_span_equals_that_of_an_exhaustive_search(max_span, seed):
    generator = torch.Generator().manual_seed(seed)
    start, end = torch.randn(2, 3, 9, generator=generator)
    for row, (first, last) in enumerate(best_spans(start, end, max_span)):
        candidates = [(i, j) for i in range(9) for j in range(i, min(i + max_span, 9))]
        best = max(candidates, key=lambda span: float(start[row, span[0]] + end[row, span[1]]))
        assert (first, last) == best


def test_trilinear_scores_follow_the_formula():
    scores = Trilinear(4)
    left, right = torch.randn(1, 3, 4), torch.randn(1, 2, 4)
    expected = [
        [
            (scores.left(x) + scores.right(y)).item() + (scores.product[:, 0] * x * y).sum().item()
            for y in right[0]
        ]
        for x in left[0]
    ]
    torch.testing.assert_close(scores(left, right)[0], torch.tensor(expected))


def test_a_token_does_not_attend_to_itself_and_may_attend_to_nothing():
    attention = SelfAttention(4).eval()
    alone = torch.randn(1, 1, 4)
    attended = attention(alone, torch.ones(1, 1, dtype=torch.bool))
    expected = attention.project(torch.cat([alone * 0, alone, alone * 0], dim=2))
    torch.testing.assert_close(attended, expected)


def test_a_long_paragraph_is_truncated_and_lost_questions_are_counted():
    skipped = Counter()
    kept = list(cut_paragraphs(EXAMPLES, 5, skipped))
    assert [one.id for one in kept] == [EXAMPLES[0].id, EXAMPLES[2].id]
    assert all(len(one.segments[0]) == 5 for one in kept)
    assert sum(skipped.values()) == 2


def test_typed_text_must_contain_a_paragraph_and_a_question():
    with pytest.raises(ValueError, match="paragraph"):
        parse("Where is York?")
