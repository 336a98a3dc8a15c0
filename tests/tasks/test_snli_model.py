from collections import Counter

import pytest
import torch
from torch.testing import assert_close

from elmo_bench.data.example import Example
from elmo_bench.runs.datamodule import LengthBatches
from elmo_bench.task import collate
from elmo_bench.tasks.snli import data
from tests.conftest import shared
from tests.tasks.building import elmo_of, new_model, new_task
from tests.tasks.cases.snli import EXAMPLES


@pytest.fixture
def task():
    return new_task("snli")


def test_each_side_is_padded_to_its_own_longest_sentence(task):
    model, batch = new_model(task, EXAMPLES), collate(EXAMPLES)
    shapes = [model.encode(batch, {}, segment).mask.shape for segment in (0, 1)]
    assert shapes == [(4, 11), (4, 7)]


def test_swapping_premise_and_hypothesis_changes_the_scores(task):
    model = new_model(task, EXAMPLES).eval()
    swapped = EXAMPLES[2]._replace(segments=EXAMPLES[2].segments[::-1])
    scores = model.logits(collate([EXAMPLES[2], swapped]), {})
    assert not torch.allclose(scores[0], scores[1], atol=1e-4)


def test_a_sentence_paired_with_itself_is_scored(task):
    model = new_model(task, EXAMPLES).eval()
    same = Example("same", (EXAMPLES[2].segments[0],) * 2, "entailment")
    assert model(collate([same]), {}).loss.isfinite()


def test_the_weight_penalty_applies_only_to_training_with_elmo():
    batch, both = collate(EXAMPLES), ["input", "output"]
    no_dropout = {"input_dropout": 0.0, "head_dropout": 0.0, "elmo_attention_dropout": 0.0}
    free, penalized = (new_task("snli", elmo_weight_l2=l2, **no_dropout) for l2 in (0.0, 0.1))
    models = [new_model(task, EXAMPLES, both) for task in (free, penalized)]
    elmo = elmo_of(batch, both)
    without, with_penalty = (model.train()(batch, elmo).loss for model in models)
    assert with_penalty > without
    assert_close(*(model.eval()(batch, elmo).loss for model in models))
    baseline = new_model(penalized, EXAMPLES)
    assert_close(baseline.train()(batch, {}).loss, baseline.eval()(batch, {}).loss)


def test_new_text_has_a_prediction_but_no_loss(task):
    pair = task.parse("A dog runs. ||| A dog sleeps.")
    output = new_model(task, EXAMPLES).eval()(collate([pair]), {})
    assert output.loss == 0
    assert output.predictions[0] in data.LABELS


def test_a_wrong_label_counts_as_one_error(task):
    assert task.counts(EXAMPLES[0], "neutral") == [(0, 1, 0, 1)]


@pytest.mark.parametrize("separator", ["\t", " ||| "])
def test_a_typed_pair_becomes_two_segments(task, separator):
    pair = task.parse(f"A dog runs.{separator}It sleeps.")
    assert pair.segments == (("A", "dog", "runs", "."), ("It", "sleeps", "."))


@pytest.mark.parametrize("text", ["A dog runs.", "A dog.\t", "One\ttwo\tthree"])
def test_text_that_is_not_a_pair_is_rejected(task, text):
    with pytest.raises(ValueError, match="a premise and a hypothesis"):
        task.parse(text)


@pytest.mark.parametrize("training", [True, False])
def test_padding_is_less_than_15_percent_on_real_pairs(training):
    path = shared("data", "nli", "snli_1.0_test.jsonl.gz")
    examples = list(data.read(path, Counter()))
    lengths = [[len(segment) for segment in example.segments] for example in examples]
    generator = torch.Generator().manual_seed(1) if training else None
    filled = padded = 0
    for batch in LengthBatches(lengths, batch_size=32, generator=generator):
        for side in (0, 1):
            sizes = [lengths[index][side] for index in batch]
            filled, padded = filled + sum(sizes), padded + len(sizes) * max(sizes)
    assert 1 - filled / padded < 0.15
