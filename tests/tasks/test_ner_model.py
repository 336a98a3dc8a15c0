import pytest

from elmo_bench.task import collate
from tests.tasks.building import new_model, new_task
from tests.tasks.cases.ner import EXAMPLES


@pytest.fixture
def task():
    return new_task("ner")


def test_counts_are_of_entities(task):
    assert task.counts(EXAMPLES[0], task.gold(EXAMPLES[0])) == [(2, 2, 2, 2)]


def test_an_annotation_names_the_tokens_of_each_entity(task):
    assert task.annotate(EXAMPLES[0], task.gold(EXAMPLES[0])).spans == (
        (0, 0, 0, "PER"),
        (0, 2, 3, "LOC"),
    )


def test_typed_text_is_tokenized_and_tagged(task):
    example = task.parse("Ann's in New York.")
    assert example.segments == (("Ann", "'s", "in", "New", "York", "."),)
    [prediction] = new_model(task, EXAMPLES).eval()(collate([example]), {}).predictions
    assert len(prediction) == 6
