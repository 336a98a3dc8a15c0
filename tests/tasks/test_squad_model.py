from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_bench.config.compose import build, task_config
from elmo_bench.data.example import distinct_segments
from elmo_bench.nn.word_embedding import random_words
from elmo_bench.task import collate
from tasks.squad.attention import SelfAttention, Trilinear
from tasks.squad.data import cut_paragraphs, parse
from tasks.squad.model import best_spans

PARAGRAPHS = ["Ann lives in York. She has two cats.", "The club won in 1999, its best year so far."]
QUESTIONS = [
    (0, "Where does Ann live?", "York"),
    (0, "How many cats does she have?", "two"),
    (1, "When did the club win?", "1999"),
    (1, "What was 1999?", "its best year"),
]


def example(paragraph: str, question: str, answer: str):
    new = parse(f"{paragraph} ||| {question}")
    start = paragraph.index(answer)
    inside = [
        token
        for token, (left, right) in enumerate(new.target.offsets)
        if left >= start and right <= start + len(answer)
    ]
    target = type(new.target)(
        new.target.context, new.target.offsets, (answer,), ((inside[0], inside[-1]),)
    )
    return new._replace(target=target)


EXAMPLES = [example(PARAGRAPHS[number], question, answer) for number, question, answer in QUESTIONS]


@pytest.fixture
def task():
    settings = task_config("squad").build
    settings.hidden_dim, settings.char_filters = 12, [[5, 8]]
    return build(settings)


def new_model(task, dims):
    torch.manual_seed(1)
    words = random_words(distinct_segments(EXAMPLES), 12, True, 1, 0.25)
    return task.build_model(words, dims, task.label_vocabulary(EXAMPLES))


def elmo_of(batch, dims):
    """Vectors that depend on the word alone, so that they are the same in every batch."""
    vectors = {}
    for place, dim in dims.items():
        vectors[place] = torch.zeros(*batch.mask.shape, dim)
        for row, segment in enumerate(batch.segments):
            for time, word in enumerate(segment):
                generator = torch.Generator().manual_seed(sum(word.encode()))
                vectors[place][row, time] = torch.randn(dim, generator=generator)
    return vectors


def ends(model, batch, dims):
    encoded = model.encode(batch, elmo_of(batch, dims))
    paragraphs, questions = batch.row_index(0), batch.row_index(1)
    return model.boundaries(
        encoded[paragraphs], batch.mask[paragraphs], encoded[questions], batch.mask[questions]
    )


@pytest.mark.parametrize("dims", [{}, {"input": 5, "output": 5}, {"output": 5}])
def test_a_question_gets_the_same_scores_alone_and_in_a_batch(task, dims):
    model = new_model(task, dims).eval()
    together, _ = ends(model, collate(EXAMPLES), dims)
    for row, one in enumerate(EXAMPLES):
        alone, _ = ends(model, collate([one]), dims)
        length = len(one.segments[0])
        torch.testing.assert_close(together[row, :length], alone[0, :length], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("dims", [{}, {"input": 5, "output": 5}])
def test_a_few_questions_can_be_learned_by_heart(task, dims):
    model, batch = new_model(task, dims), collate(EXAMPLES)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(120):
        optimizer.zero_grad()
        model(batch, elmo_of(batch, dims)).loss.backward()
        optimizer.step()
    assert all(parameter.grad is not None for parameter in model.parameters())
    predictions = model.eval()(batch, elmo_of(batch, dims)).predictions
    assert task.score(EXAMPLES, predictions)["f1"] == 100
    assert task.answers(EXAMPLES, predictions)[EXAMPLES[3].id] == "its best year"


def test_a_question_without_an_aligned_answer_is_answered_and_counts_but_not_in_the_loss(task):
    model = new_model(task, {}).eval()
    target = replace(EXAMPLES[2].target, answers=(" ",), spans=())
    examples = [*EXAMPLES[:2], EXAMPLES[2]._replace(target=target)]
    with_it, without = (model(collate(batch), {}) for batch in (examples, examples[:2]))
    torch.testing.assert_close(with_it.loss, without.loss)
    assert len(with_it.predictions) == 3
    gold = [task.gold(example) for example in examples]
    assert task.score(examples, gold)["f1"] == pytest.approx(100 * 2 / 3)


def test_a_paragraph_with_two_questions_is_encoded_once(task):
    assert len(collate(EXAMPLES).segments) == 2 + 4


@given(st.integers(1, 6), st.integers(0, 2**31))
def test_the_best_span_is_that_of_an_exhaustive_search(max_span, seed):
    generator = torch.Generator().manual_seed(seed)
    start, end = torch.randn(2, 3, 9, generator=generator)
    for row, (first, last) in enumerate(best_spans(start, end, max_span)):
        candidates = [(i, j) for i in range(9) for j in range(i, min(i + max_span, 9))]
        best = max(candidates, key=lambda span: float(start[row, span[0]] + end[row, span[1]]))
        assert (first, last) == best


def test_trilinear_scores_are_what_the_formula_says():
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


def test_a_long_paragraph_is_cut_and_what_lies_behind_is_counted():
    skipped = Counter()
    kept = list(cut_paragraphs(EXAMPLES, 5, skipped))
    assert [one.id for one in kept] == [EXAMPLES[0].id, EXAMPLES[2].id]
    assert all(len(one.segments[0]) == 5 for one in kept)
    assert sum(skipped.values()) == 2


def test_what_a_person_types_must_hold_a_paragraph_and_a_question():
    with pytest.raises(ValueError, match="paragraph"):
        parse("Where is York?")
