from collections import Counter

import pytest

from elmo_bench.data.example import Example
from elmo_bench.task import collate
from elmo_bench.tasks.srl.data import SrlTarget
from tests.conftest import shared
from tests.tasks.building import new_model, new_task
from tests.tasks.cases.srl import EXAMPLES


@pytest.fixture
def task():
    return new_task("srl", max_length=8)


def test_the_predicate_distinguishes_examples_of_one_sentence(task):
    model = new_model(task, EXAMPLES).eval()
    first, other = (model(collate([EXAMPLES[n]]), {}) for n in (0, 2))
    assert len(collate(EXAMPLES).segments) == 2
    assert first.loss != other.loss


def test_predictions_are_spans_that_do_not_overlap(task):
    for predicted in new_model(task, EXAMPLES).eval()(collate(EXAMPLES), {}).predictions:
        covered = [token for first, last, _ in predicted for token in range(first, last + 1)]
        assert len(covered) == len(set(covered))


def test_a_label_unseen_in_training_is_ignored_in_the_loss(task):
    model = new_model(task, EXAMPLES).eval()
    target = SrlTarget(1, ((0, 1, "ARG9"),))
    assert model(collate([Example("b:0:1", (("dogs", "bark"),), target)]), {}).loss == 0


def test_counts_are_of_arguments_without_the_predicate(task):
    assert task.counts(EXAMPLES[0], task.gold(EXAMPLES[0])) == [(2, 2, 2, 2)]


def test_the_score_does_not_depend_on_the_order_of_examples(task):
    predictions = [[[0, 0, "ARG0"]], [[0, 1, "ARG0"]], [[3, 5, "ARG0"]]]
    backwards = task.score(EXAMPLES[::-1], predictions[::-1])
    assert task.score(EXAMPLES, predictions) == backwards


def test_training_skips_long_sentences_and_counts_them(task):
    skipped = Counter()
    examples = [EXAMPLES[0], EXAMPLES[1]._replace(segments=(("a",) * 9,))]
    assert list(task._not_too_long(examples, "train", skipped)) == EXAMPLES[:1]
    assert skipped == {"predicates in training sentences of over 8 words": 1}
    assert len(list(task._not_too_long(examples, "dev", skipped))) == 2


def test_the_word_between_asterisks_is_the_predicate(task):
    example = task.parse("Mr. Cat *chased* the dog.")
    assert example.segments == (("Mr.", "Cat", "chased", "the", "dog", "."),)
    assert example.target.predicate == 2
    [predicted] = new_model(task, EXAMPLES).eval()(collate([example]), {}).predictions
    assert len(task.annotate(example, predicted).spans) == len(predicted)


@pytest.mark.parametrize("text", ["", "no star", "*two words*", "* *", "one *star", "*a* b *c*"])
def test_other_marks_are_rejected_with_an_example(task, text):
    with pytest.raises(ValueError, match=r"\*chased\*"):
        task.parse(text)


def test_gold_of_a_real_corpus_scores_100(task):
    path = shared("data", "srl", "ewt-propbank.dev.gold_conll.gz")
    examples = list(task.read(path, "dev", Counter()))
    assert task.score(examples, [task.gold(example) for example in examples])["f1"] == 100
