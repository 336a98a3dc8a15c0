from collections.abc import Mapping

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from elmo_bench.data.example import Example
from elmo_bench.nn.word_embedding import random_words
from elmo_bench.task import Batch, collate
from tasks.sst5 import Sst5Task
from tasks.sst5.model import BiattentiveNetwork

PLACES = {"input": 6, "output": 6}
TEXTS = ("a lovely film", "no fun at all , none", "it is a film", "dull", "so very very good")
EXAMPLES = [Example(str(label), (tuple(text.split()),), label) for label, text in enumerate(TEXTS)]


def new_task(head: str = "relu", dropout: float = 0.0) -> Sst5Task:
    return Sst5Task(
        min_phrase_length=4,
        hidden_dim=8,
        embedding_dropout=dropout,
        feedforward_dropout=dropout,
        head=head,
        head_dims=[12, 7],
        head_dropout=[dropout, dropout, dropout],
    )


def new_model(task: Sst5Task, elmo_dims: Mapping[str, int]) -> BiattentiveNetwork:
    torch.manual_seed(1)
    words = random_words(
        (example.segments[0] for example in EXAMPLES), 5, False, min_count=1, word_dropout=0.0
    )
    model = task.build_model(words, elmo_dims, label_vocabulary={})
    assert isinstance(model, BiattentiveNetwork)
    return model


def elmo_of(batch: Batch) -> dict[str, Tensor]:
    """Vectors that depend on the segment alone, with rubbish in the padding."""
    vectors = torch.full((*batch.mask.shape, PLACES["input"]), 1e4)
    for row, segment in enumerate(batch.segments):
        generator = torch.Generator().manual_seed(len(segment[0]) * 100 + len(segment))
        vectors[row, : len(segment)] = torch.randn(len(segment), 6, generator=generator)
    return {"input": vectors, "output": -vectors}


@pytest.mark.parametrize("head", ["relu", "maxout"])
@pytest.mark.parametrize("with_elmo", [False, True])
def test_a_sentence_gets_the_same_scores_alone_and_in_a_batch(head, with_elmo):
    model = new_model(new_task(head), PLACES if with_elmo else {}).eval()
    batch = collate(EXAMPLES)
    together = model.logits(batch, elmo_of(batch) if with_elmo else {})
    for row, example in enumerate(EXAMPLES):
        alone = collate([example])
        scores = model.logits(alone, elmo_of(alone) if with_elmo else {})
        assert_close(scores[0], together[row], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("head", ["relu", "maxout"])
def test_gradients_reach_every_parameter(head):
    model, batch = new_model(new_task(head), PLACES), collate(EXAMPLES)
    model(batch, elmo_of(batch)).loss.backward()
    assert not [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]


@pytest.mark.parametrize("head", ["relu", "maxout"])
@pytest.mark.parametrize("with_elmo", [False, True])
def test_five_sentences_can_be_learned_by_heart(head, with_elmo):
    task, batch = new_task(head), collate(EXAMPLES)
    model = new_model(task, PLACES if with_elmo else {})
    elmo = elmo_of(batch) if with_elmo else {}
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(80):
        optimizer.zero_grad()
        model(batch, elmo).loss.backward()
        optimizer.step()
    assert task.score(EXAMPLES, model.eval()(batch, elmo).predictions)["accuracy"] == 100


def test_a_phrase_with_two_labels_is_computed_once_and_scored_for_both():
    twice = [EXAMPLES[0], Example("again", EXAMPLES[0].segments, 4), EXAMPLES[1]]
    model, batch = new_model(new_task(), {}).eval(), collate(twice)
    output = model(batch, {})
    assert len(model.logits(batch, {})) == 2
    assert output.predictions[0] == output.predictions[1]


def test_training_gives_no_predictions_and_new_text_no_loss():
    model = new_model(new_task(dropout=0.5), {})
    assert model(collate(EXAMPLES), {}).predictions == []
    output = model.eval()(collate([new_task().parse("A lovely film.")]), {})
    assert output.loss == 0
    assert output.predictions[0] in range(5)


def test_a_batch_of_one_trains_with_batch_norm():
    model = new_model(new_task("maxout"), {}).train()
    model(collate(EXAMPLES[:1]), {}).loss.backward()
    assert model.words.table.weight.grad.any()


def test_saved_weights_predict_the_same():
    batch = collate(EXAMPLES)
    model, other = (new_model(new_task("maxout"), {}) for _ in range(2))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))
    other.load_state_dict(model.state_dict())
    assert_close(model.eval().logits(batch, {}), other.eval().logits(batch, {}))


def test_gold_scores_100_in_both_ways():
    task = new_task()
    predictions = [task.gold(example) for example in EXAMPLES]
    assert task.score(EXAMPLES, predictions) == {"accuracy": 100, "binary": 100}


def test_binary_accuracy_leaves_gold_neutral_out_and_counts_predicted_neutral_as_wrong():
    # Gold is 0, 1, 2, 3, 4: of the four that are not neutral, the first and the last are right.
    assert new_task().score(EXAMPLES, [1, 2, 4, 0, 3]) == {"accuracy": 0, "binary": 50}


def test_counts_add_up_to_the_accuracy():
    task, predictions = new_task(), [0, 1, 1, 1, 4]
    right = sum(task.counts(e, p)[0][0] for e, p in zip(EXAMPLES, predictions, strict=True))
    assert 100 * right / 5 == task.score(EXAMPLES, predictions)["accuracy"]


def test_predictions_are_shown_by_name():
    assert new_task().annotate(EXAMPLES[0], 4).label == "very positive"


def test_a_typed_sentence_becomes_tokens_and_an_empty_one_is_refused():
    assert new_task().parse("It isn't bad.").segments == (("It", "is", "n't", "bad", "."),)
    with pytest.raises(ValueError, match="a sentence"):
        new_task().parse("  ")


def test_head_refuses_an_unknown_kind_and_a_wrong_number_of_rates():
    with pytest.raises(ValueError, match="relu or maxout"):
        new_model(new_task("linear"), {})
    task = new_task()
    task.head_dropout = [0.1]
    with pytest.raises(ValueError, match="1 rates for the 3 layers"):
        new_model(task, {})
