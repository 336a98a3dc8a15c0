from collections import Counter
from collections.abc import Mapping

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from elmo_bench.data.example import Example
from elmo_bench.nn.word_embedding import random_words
from elmo_bench.runs.datamodule import LengthBatches
from elmo_bench.task import Batch, collate
from tasks.snli import SnliTask, data
from tasks.snli.model import Esim
from tests.conftest import shared

PLACES = {"input": 6, "output": 6}
PREMISE = "two young dogs run over a green field near the sea"
PAIRS = (
    (PREMISE, "dogs run", "entailment"),
    (PREMISE, "dogs sleep", "contradiction"),
    ("a boy sings", "a happy boy sings a long song", "neutral"),
    ("no one", "one", "contradiction"),
)
EXAMPLES = [
    Example(str(number), (tuple(premise.split()), tuple(hypothesis.split())), label)
    for number, (premise, hypothesis, label) in enumerate(PAIRS)
]


def new_task(dropout: float = 0.0, penalty: float = 0.0) -> SnliTask:
    return SnliTask(
        hidden_dim=8,
        input_dropout=dropout,
        head_dropout=dropout,
        elmo_attention_dropout=dropout,
        elmo_weight_l2=penalty,
    )


def new_model(task: SnliTask, elmo_dims: Mapping[str, int]) -> Esim:
    torch.manual_seed(1)
    segments = [segment for example in EXAMPLES for segment in example.segments]
    words = random_words(segments, 5, False, min_count=1, word_dropout=0.0)
    model = task.build_model(words, elmo_dims, label_vocabulary={})
    assert isinstance(model, Esim)
    return model


def elmo_of(batch: Batch) -> dict[str, Tensor]:
    """Vectors that depend on the segment alone, with rubbish in the padding."""
    vectors = torch.full((*batch.mask.shape, PLACES["input"]), 1e4)
    for row, segment in enumerate(batch.segments):
        generator = torch.Generator().manual_seed(len(segment[0]) * 100 + len(segment))
        vectors[row, : len(segment)] = torch.randn(len(segment), 6, generator=generator)
    return {"input": vectors, "output": -vectors}


@pytest.mark.parametrize("with_elmo", [False, True])
def test_a_pair_gets_the_same_scores_alone_and_in_a_batch(with_elmo):
    model = new_model(new_task(), PLACES if with_elmo else {}).eval()
    batch = collate(EXAMPLES)
    together = model.logits(batch, elmo_of(batch) if with_elmo else {})
    for row, example in enumerate(EXAMPLES):
        alone = collate([example])
        scores = model.logits(alone, elmo_of(alone) if with_elmo else {})
        assert_close(scores[0], together[row], atol=1e-5, rtol=1e-4)


def test_each_side_is_padded_to_its_own_longest_sentence():
    model, batch = new_model(new_task(), {}), collate(EXAMPLES)
    shapes = [model.encode(batch, {}, segment).mask.shape for segment in (0, 1)]
    assert shapes == [(4, 11), (4, 7)]


def test_a_pair_that_is_turned_round_gets_other_scores():
    model = new_model(new_task(), {}).eval()
    turned = EXAMPLES[2]._replace(segments=EXAMPLES[2].segments[::-1])
    scores = model.logits(collate([EXAMPLES[2], turned]), {})
    assert not torch.allclose(scores[0], scores[1], atol=1e-4)


def test_a_pair_of_one_sentence_twice_is_scored():
    model = new_model(new_task(), {}).eval()
    same = Example("same", (EXAMPLES[2].segments[0],) * 2, "entailment")
    assert model(collate([same]), {}).loss.isfinite()


def test_gradients_reach_every_parameter():
    model, batch = new_model(new_task(), PLACES), collate(EXAMPLES)
    model(batch, elmo_of(batch)).loss.backward()
    assert not [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]


@pytest.mark.parametrize("with_elmo", [False, True])
def test_four_pairs_can_be_learned_by_heart(with_elmo):
    task, batch = new_task(), collate(EXAMPLES)
    model = new_model(task, PLACES if with_elmo else {})
    elmo = elmo_of(batch) if with_elmo else {}
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        model(batch, elmo).loss.backward()
        optimizer.step()
    assert task.score(EXAMPLES, model.eval()(batch, elmo).predictions) == {"accuracy": 100}


def test_the_weight_penalty_is_for_training_with_elmo_alone():
    batch = collate(EXAMPLES)
    plain, penalized = (new_model(new_task(penalty=p), PLACES) for p in (0.0, 0.1))
    elmo = elmo_of(batch)
    assert penalized.train()(batch, elmo).loss > plain.train()(batch, elmo).loss
    assert_close(penalized.eval()(batch, elmo).loss, plain.eval()(batch, elmo).loss)
    baseline = new_model(new_task(penalty=0.1), {})
    assert_close(baseline.train()(batch, {}).loss, baseline.eval()(batch, {}).loss)


def test_training_gives_no_predictions_and_new_text_no_loss():
    model = new_model(new_task(dropout=0.5), {})
    assert model(collate(EXAMPLES), {}).predictions == []
    output = model.eval()(collate([new_task().parse("A dog runs. ||| A dog sleeps.")]), {})
    assert output.loss == 0
    assert output.predictions[0] in data.LABELS


def test_saved_weights_predict_the_same():
    batch = collate(EXAMPLES)
    model, other = (new_model(new_task(), {}) for _ in range(2))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))
    other.load_state_dict(model.state_dict())
    assert_close(model.eval().logits(batch, {}), other.eval().logits(batch, {}))


def test_gold_scores_100_and_counts_add_up():
    task = new_task()
    predictions = [task.gold(example) for example in EXAMPLES]
    assert task.score(EXAMPLES, predictions) == {"accuracy": 100}
    assert task.counts(EXAMPLES[0], "neutral") == [(0, 1, 0, 1)]


@pytest.mark.parametrize("between", ["\t", " ||| "])
def test_a_typed_pair_becomes_two_segments(between):
    pair = new_task().parse(f"A dog runs.{between}It sleeps.")
    assert pair.segments == (("A", "dog", "runs", "."), ("It", "sleeps", "."))


@pytest.mark.parametrize("text", ["A dog runs.", "A dog.\t", "One\ttwo\tthree"])
def test_what_is_not_a_pair_is_refused(text):
    with pytest.raises(ValueError, match="a premise and a hypothesis"):
        new_task().parse(text)


@pytest.mark.parametrize("training", [True, False])
def test_less_than_15_percent_of_the_positions_of_real_pairs_is_padding(training):
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
