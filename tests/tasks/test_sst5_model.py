import pytest

from elmo_bench.config.compose import run_settings
from elmo_bench.config.errors import ConfigError
from elmo_bench.data.example import Example
from elmo_bench.task import collate
from tests.tasks.building import new_model, new_task
from tests.tasks.cases.sst5 import EXAMPLES


@pytest.fixture
def task():
    return new_task("sst5")


def test_a_phrase_with_two_labels_is_computed_once_and_scored_for_both(task):
    twice = [EXAMPLES[0], Example("again", EXAMPLES[0].segments, 4), EXAMPLES[1]]
    model, batch = new_model(task, EXAMPLES).eval(), collate(twice)
    output = model(batch, {})
    assert len(model.logits(batch, {})) == 2
    assert output.predictions[0] == output.predictions[1]


def test_new_text_has_a_prediction_but_no_loss(task):
    sentence = task.parse("A lovely film.")
    output = new_model(task, EXAMPLES).eval()(collate([sentence]), {})
    assert output.loss == 0
    assert output.predictions[0] in range(5)


def test_a_batch_of_one_trains_with_batch_norm():
    model = new_model(new_task("sst5", head="maxout"), EXAMPLES).train()
    model(collate(EXAMPLES[:1]), {}).loss.backward()
    assert model.words.table.weight.grad.any()


def test_gold_scores_100_on_both_metrics(task):
    predictions = [task.gold(example) for example in EXAMPLES]
    assert task.score(EXAMPLES, predictions) == {"accuracy": 100, "binary": 100}


def test_binary_accuracy_leaves_gold_neutral_out_and_counts_predicted_neutral_as_wrong(task):
    # Gold is 0, 1, 2, 3, 4: of the four that are not neutral, the first and the last are right.
    assert task.score(EXAMPLES, [1, 2, 4, 0, 3]) == {"accuracy": 0, "binary": 50}


def test_predictions_are_shown_by_name(task):
    assert task.annotate(EXAMPLES[0], 4).label == "very positive"


def test_a_typed_sentence_is_tokenized_and_an_empty_one_is_rejected(task):
    assert task.parse("It isn't bad.").segments == (("It", "is", "n't", "bad", "."),)
    with pytest.raises(ValueError, match="a sentence"):
        task.parse("  ")


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("head=linear", "task.build.head=linear: must be 'relu' or 'maxout'"),
        ("head_dropout=[0.1]", "task.build.head_dropout has 1 rates for the 3 layers"),
        ("head_dims=[8]", "task.build.head_dropout has 3 rates for the 2 layers"),
    ],
)
def test_an_unknown_head_and_a_wrong_number_of_dropout_rates_are_refused(override, problem):
    with pytest.raises(ConfigError) as refused:
        run_settings(["task=sst5", f"task.build.{override}"])
    assert str(refused.value).startswith(problem)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("place", "joined"), [("encoder", (30, 24)), ("integrator", (24, 30))])
def test_the_output_is_that_of_either_bilstm(place, joined):
    model = new_model(new_task("sst5", elmo_output=place), EXAMPLES, ["output"])
    [first] = model.integrator.forwards
    assert (first.input_size // 3, model.attentive_pooling.score.in_features) == joined


def test_word_vectors_are_dropped_more_often_with_elmo():
    task = new_task("sst5", embedding_dropout=0.25, elmo_embedding_dropout=0.5)
    rates = [new_model(task, EXAMPLES, at).embedding_dropout.p for at in ([], ["input"])]
    assert rates == [0.25, 0.5]
