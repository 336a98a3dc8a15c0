import pytest
import torch

from elmo_bench.config.compose import build, task_config
from elmo_bench.data.example import Example, distinct_segments
from elmo_bench.nn.word_embedding import random_words
from elmo_bench.task import collate

EXAMPLES = [
    Example("1", (("Ann", "met", "New", "York", "."),), ("B-PER", "O", "B-LOC", "I-LOC", "O")),
    Example("2", (("York", "won"),), ("B-ORG", "O")),
    Example("3", (("Nothing", "happened", "today"),), ("O", "O", "O")),
]


@pytest.fixture
def task():
    settings = task_config("ner").build
    settings.hidden_dims, settings.dropout = [16, 12], 0.2
    return build(settings)


def new_model(task, elmo_dim: int):
    torch.manual_seed(1)
    words = random_words(distinct_segments(EXAMPLES), 8, True, 1, 0.25)
    dims = {"input": elmo_dim} if elmo_dim else {}
    return task.build_model(words, dims, task.label_vocabulary(EXAMPLES))


def elmo_of(batch, dim: int):
    if not dim:
        return {}
    generator = torch.Generator().manual_seed(3)
    rows = {
        segment: torch.randn(len(segment), dim, generator=generator)
        for segment in sorted(distinct_segments(EXAMPLES))
    }
    vectors = torch.zeros(*batch.mask.shape, dim)
    for row, segment in enumerate(batch.segments):
        vectors[row, : len(segment)] = rows[segment]
    return {"input": vectors}


@pytest.mark.parametrize("dim", [0, 6])
def test_a_sentence_gets_the_same_emissions_alone_and_in_a_batch(task, dim):
    model = new_model(task, dim).eval()
    together = collate(EXAMPLES)
    scores = model.emissions(together, elmo_of(together, dim))
    for row, example in enumerate(EXAMPLES):
        alone = collate([example])
        expected = model.emissions(alone, elmo_of(alone, dim))[0]
        torch.testing.assert_close(scores[row, : len(expected)], expected)


@pytest.mark.parametrize("dim", [0, 6])
def test_a_few_sentences_can_be_learned_by_heart(task, dim):
    model = new_model(task, dim)
    batch = collate(EXAMPLES)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(60):
        optimizer.zero_grad()
        model(batch, elmo_of(batch, dim)).loss.backward()
        assert all(p.grad is not None for p in model.parameters())
        optimizer.step()
    predictions = model.eval()(batch, elmo_of(batch, dim)).predictions
    assert task.score(EXAMPLES, predictions)["f1"] == 100


def test_gold_scores_100_and_its_counts_say_so(task):
    gold = [task.gold(example) for example in EXAMPLES]
    assert task.score(EXAMPLES, gold)["f1"] == 100
    assert task.counts(EXAMPLES[0], gold[0]) == [(2, 2, 2, 2)]


def test_an_annotation_names_the_tokens_of_each_entity(task):
    assert task.annotate(EXAMPLES[0], task.gold(EXAMPLES[0])).spans == (
        (0, 0, 0, "PER"),
        (0, 2, 3, "LOC"),
    )


def test_typed_text_is_tokenized_and_tagged(task):
    example = task.parse("Ann's in New York.")
    assert example.segments == (("Ann", "'s", "in", "New", "York", "."),)
    [prediction] = new_model(task, 0).eval()(collate([example]), {}).predictions
    assert len(prediction) == 6
