from collections import Counter

import pytest
import torch

from elmo_bench.config.compose import build, task_config
from elmo_bench.data.example import Example, distinct_segments
from elmo_bench.nn.word_embedding import random_words
from elmo_bench.task import collate
from tasks.srl import SrlTarget
from tests.conftest import shared

LONG = ("Ann", "said", "that", "the", "old", "dog", "chased", "it")
EXAMPLES = [
    Example("a:0:1", (LONG,), SrlTarget(1, ((0, 0, "ARG0"), (1, 1, "V"), (2, 7, "ARG1")))),
    Example("a:1:1", (("dogs", "bark"),), SrlTarget(1, ((0, 0, "ARG0"), (1, 1, "V")))),
    Example("a:0:6", (LONG,), SrlTarget(6, ((3, 5, "ARG0"), (6, 6, "V"), (7, 7, "ARG1")))),
]
PLACES = [(), ("input",), ("output",), ("input", "output")]


@pytest.fixture
def task():
    settings = task_config("srl").build
    settings.update(predicate_dim=4, hidden_dim=16, num_layers=3, max_length=8)
    return build(settings)


def new_model(task, places):
    torch.manual_seed(1)
    words = random_words(distinct_segments(EXAMPLES), 8, True, 1, 0.25)
    return task.build_model(words, dict.fromkeys(places, 6), task.label_vocabulary(EXAMPLES))


def elmo_of(batch, places):
    vectors = torch.zeros(*batch.mask.shape, 6)
    for row, segment in enumerate(batch.segments):
        generator = torch.Generator().manual_seed(len(segment))
        vectors[row, : len(segment)] = torch.randn(len(segment), 6, generator=generator)
    return dict.fromkeys(places, vectors)


@pytest.mark.parametrize("places", PLACES)
def test_an_example_has_the_same_loss_alone_and_in_a_batch(task, places):
    model, together = new_model(task, places).eval(), collate(EXAMPLES)
    losses = []
    for example in EXAMPLES:
        alone = collate([example])
        losses.append(model(alone, elmo_of(alone, places)).loss)
    expected = model(together, elmo_of(together, places)).loss
    torch.testing.assert_close(torch.stack(losses).mean(), expected)


@pytest.mark.parametrize("places", [(), ("input", "output")])
def test_a_few_predicates_can_be_learned_by_heart(task, places):
    model, batch = new_model(task, places), collate(EXAMPLES)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(40):
        optimizer.zero_grad()
        model(batch, elmo_of(batch, places)).loss.backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
        optimizer.step()
    predictions = model.eval()(batch, elmo_of(batch, places)).predictions
    assert predictions == [task.gold(example) for example in EXAMPLES]


def test_the_predicate_decides_between_examples_of_one_sentence(task):
    model = new_model(task, ()).eval()
    first, other = (model(collate([EXAMPLES[n]]), {}) for n in (0, 2))
    assert len(collate(EXAMPLES).segments) == 2
    assert first.loss != other.loss


def test_predictions_are_spans_that_do_not_overlap(task):
    for predicted in new_model(task, ()).eval()(collate(EXAMPLES), {}).predictions:
        covered = [token for first, last, _ in predicted for token in range(first, last + 1)]
        assert len(covered) == len(set(covered))


def test_a_label_that_training_lacks_costs_no_loss(task):
    model = new_model(task, ()).eval()
    target = SrlTarget(1, ((0, 1, "ARG9"),))
    assert model(collate([Example("b:0:1", (("dogs", "bark"),), target)]), {}).loss == 0


def test_a_saved_model_predicts_the_same_when_loaded(task):
    model, batch = new_model(task, ()).eval(), collate(EXAMPLES)
    other = new_model(task, ()).eval()
    torch.nn.init.normal_(other.dense.weight)
    other.load_state_dict(model.state_dict())
    assert other(batch, {}).predictions == model(batch, {}).predictions


def test_gold_scores_100_and_its_counts_say_so(task):
    gold = [task.gold(example) for example in EXAMPLES]
    assert task.score(EXAMPLES, gold)["f1"] == 100
    assert task.counts(EXAMPLES[0], gold[0]) == [(2, 2, 2, 2)]


def test_counts_add_up_to_the_score(task):
    predictions = [[[0, 0, "ARG0"]], [[0, 1, "ARG0"]], [[3, 5, "ARG0"], [6, 7, "C-ARG0"]]]
    pairs = zip(EXAMPLES, predictions, strict=True)
    right, found, _, expected = map(
        sum, zip(*(task.counts(*pair)[0] for pair in pairs), strict=True)
    )
    scores = task.score(EXAMPLES, predictions)
    assert scores["precision"] == pytest.approx(100 * right / found)
    assert scores["recall"] == pytest.approx(100 * right / expected)


def test_the_score_does_not_depend_on_the_order_of_examples(task):
    predictions = [[[0, 0, "ARG0"]], [[0, 1, "ARG0"]], [[3, 5, "ARG0"]]]
    backwards = task.score(EXAMPLES[::-1], predictions[::-1])
    assert task.score(EXAMPLES, predictions) == backwards


def test_training_leaves_out_long_sentences_and_says_so(task):
    skipped = Counter()
    examples = [EXAMPLES[0], EXAMPLES[1]._replace(segments=(("a",) * 9,))]
    assert list(task._not_too_long(examples, "train", skipped)) == EXAMPLES[:1]
    assert skipped == {"predicates in training sentences of over 8 words": 1}
    assert len(list(task._not_too_long(examples, "dev", skipped))) == 2


def test_the_word_between_stars_is_the_predicate(task):
    example = task.parse("Mr. Cat *chased* the dog.")
    assert example.segments == (("Mr.", "Cat", "chased", "the", "dog", "."),)
    assert example.target.predicate == 2
    [predicted] = new_model(task, ()).eval()(collate([example]), {}).predictions
    assert len(task.annotate(example, predicted).spans) == len(predicted)


@pytest.mark.parametrize("text", ["", "no star", "*two words*", "* *", "one *star", "*a* b *c*"])
def test_other_marks_are_refused_with_an_example(task, text):
    with pytest.raises(ValueError, match=r"\*chased\*"):
        task.parse(text)


def test_gold_of_a_real_corpus_scores_100(task):
    path = shared("data", "srl", "ewt-propbank.dev.gold_conll.gz")
    examples = list(task.read(path, "dev", Counter()))
    assert task.score(examples, [task.gold(example) for example in examples])["f1"] == 100
