import pytest
import torch

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


def test_half_of_the_dense_layers_input_is_dropped_in_training():
    model = new_model(new_task("ner", dropout=0.5), EXAMPLES)
    seen = []
    model.dense.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    batch = collate(EXAMPLES)
    for mode in (True, False):
        model.train(mode)(batch, {})
    shares = [states[batch.mask].eq(0).float().mean().item() for states in seen]
    assert shares[0] == pytest.approx(0.5, abs=0.15) and shares[1] == 0
    kept = seen[0][0, : len(EXAMPLES[0].segments[0])].ne(0)
    assert torch.equal(kept[0], kept[1])  # variational: the same units at every token


@pytest.mark.parametrize("learned", [True, False])
def test_scores_of_the_first_and_last_tag_are_learned_only_on_demand(learned):
    crf = new_model(new_task("ner", boundary_transitions=learned), EXAMPLES).crf
    boundaries = {"start", "end"} if learned else set()
    assert {name for name, _ in crf.named_parameters()} == boundaries | {"between"}
