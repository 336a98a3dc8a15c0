from collections import Counter

import pytest
import torch

from elmo_bench.config.compose import build, task_config
from elmo_bench.data.example import Example, distinct_segments
from elmo_bench.nn.packed import Packing, Recurrence
from elmo_bench.nn.word_embedding import random_words
from elmo_bench.task import collate
from tasks.coref import CorefTarget
from tasks.coref.encoder import CoupledBiLstm, CoupledCell
from tests.conftest import shared

SENTENCES = (("Ann", "met", "her", "friend", "."), ("She", "left", "."), ("The", "old", "friend"))
CLUSTERS = (((0, 0), (2, 2), (5, 5)), ((3, 3), (10, 10)))
EXAMPLES = [
    Example("a_0", SENTENCES, CorefTarget("bc/a", 0, "bc", ("x",) * 8 + ("y",) * 3, CLUSTERS)),
    Example(
        "b_1", (SENTENCES[1],) * 2, CorefTarget("b", 1, "none", ("-",) * 6, (((0, 0), (3, 3)),))
    ),
]
PLACES = [(), ("input",), ("output",), ("input", "output")]


@pytest.fixture
def task():
    settings = task_config("coref").build
    settings.update(char_filters=[[3, 6]], hidden_dim=8, scorer_dim=12, feature_dim=3, max_width=4)
    settings.update(spans_per_word=2.0)
    return build(settings)


def new_model(task, places):
    torch.manual_seed(1)
    words = random_words(distinct_segments(EXAMPLES), 8, True, 1, 0.25)
    return task.build_model(words, dict.fromkeys(places, 6), task.label_vocabulary(EXAMPLES))


def elmo_of(batch, places):
    vectors = torch.zeros(*batch.mask.shape, 6)
    for row, segment in enumerate(batch.segments):
        generator = torch.Generator().manual_seed(len(segment[0]))
        vectors[row, : len(segment)] = torch.randn(len(segment), 6, generator=generator)
    return dict.fromkeys(places, vectors)


@pytest.mark.parametrize("places", PLACES)
def test_a_document_has_the_same_loss_alone_and_in_a_batch(task, places):
    model, together = new_model(task, places).eval(), collate(EXAMPLES)
    losses = []
    for example in EXAMPLES:
        alone = collate([example])
        losses.append(model(alone, elmo_of(alone, places)).loss)
    expected = model(together, elmo_of(together, places)).loss
    torch.testing.assert_close(torch.stack(losses).mean(), expected)


@pytest.mark.parametrize("places", [(), ("input", "output")])
def test_documents_can_be_learned_by_heart(task, places):
    task.dropout = task.lexical_dropout = 0.0
    model, batch = new_model(task, places), collate(EXAMPLES)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(40):
        optimizer.zero_grad()
        model(batch, elmo_of(batch, places)).loss.backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
        optimizer.step()
    predictions = model.eval()(batch, elmo_of(batch, places)).predictions
    assert task.score(EXAMPLES, predictions)["conll_f1"] == 100


def test_training_reads_a_run_of_sentences_and_evaluation_all(task):
    task.max_sentences = 2
    model = new_model(task, ())
    seen = set()
    for _ in range(20):
        excerpt = model.excerpt(EXAMPLES[0], (0, 1, 2))
        seen.add((excerpt.rows, excerpt.offset))
    assert seen == {((0, 1), 0), ((1, 2), 5)}
    assert model.eval().excerpt(EXAMPLES[0], (0, 1, 2)).rows == (0, 1, 2)


def test_an_excerpt_in_training_has_finite_gradients(task):
    task.max_sentences = 1
    model = new_model(task, ("input",))
    batch = collate(EXAMPLES)
    model(batch, elmo_of(batch, ("input",))).loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_predicted_mentions_lie_in_one_cluster_and_do_not_cross(task):
    for clusters in new_model(task, ()).eval()(collate(EXAMPLES), {}).predictions:
        mentions = sorted(tuple(mention) for cluster in clusters for mention in cluster)
        assert len(mentions) == len(set(mentions))
        assert not any(a < c <= b < d for a, b in mentions for c, d in mentions)


def test_a_word_alone_is_a_document(task):
    example = task.parse("Hello")
    assert new_model(task, ()).eval()(collate([example]), {}).predictions == [[]]


@pytest.mark.parametrize("backwards", [False, True])
def test_gradients_of_the_coupled_cell_are_exact(backwards):
    torch.manual_seed(0)
    sizes, units, dim = [3, 2, 2, 1], 3, 2
    shapes = [(8, dim), (3 * units, dim), (3 * units,), (3 * units, units), (3, units), (3, units)]
    tensors = [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes]
    mask = torch.tensor([[0, 2, 1]], dtype=torch.double).expand(3, 3)
    assert torch.autograd.gradcheck(
        lambda *given: Recurrence.apply(CoupledCell(), sizes, backwards, *given, mask), tensors
    )


def test_the_encoder_reads_as_the_equations_say():
    torch.manual_seed(0)
    encoder, inputs = CoupledBiLstm(4, 3, dropout=0.0), torch.randn(5, 4)
    forwards = encoder.directions[0]
    torch.nn.init.normal_(forwards.start)
    output, cell = forwards.start
    for step in range(5):
        gates = forwards.from_input(inputs[step]) + forwards.from_output(output)
        j, i, o = gates.chunk(3)
        cell = (1 - i.sigmoid()) * cell + i.sigmoid() * j.tanh()
        output = o.sigmoid() * cell.tanh()
    packing = Packing(torch.ones(1, 5, dtype=torch.bool))
    torch.testing.assert_close(encoder(inputs, packing)[4, :3], output)


def test_gold_scores_100_and_the_counts_of_documents_add_up_to_the_score(task):
    gold = [task.gold(example) for example in EXAMPLES]
    assert task.score(EXAMPLES, gold)["conll_f1"] == 100
    predictions = [[[[0, 0], [5, 5]], [[2, 2], [8, 10], [10, 10]]], [[[0, 0], [3, 3]]]]
    groups = zip(*map(task.counts, EXAMPLES, predictions), strict=True)
    halves = []
    for group in groups:
        p, p_of, r, r_of = map(sum, zip(*group, strict=True))
        halves.append(2 / (p_of / p + r_of / r))
    expected = task.score(EXAMPLES, predictions)["conll_f1"]
    assert 100 * sum(halves) / 3 == pytest.approx(expected)


def test_an_annotation_counts_words_from_the_start_of_their_sentence(task):
    spans = task.annotate(EXAMPLES[0], [[[0, 0], [5, 5]], [[2, 3], [8, 10]]]).spans
    assert spans == ((0, 0, 0, "1"), (0, 2, 3, "2"), (1, 0, 0, "1"), (2, 0, 2, "2"))


@pytest.mark.parametrize("text", ["Ann left. She ran!", "Ann left . | She ran !"])
def test_a_text_is_cut_into_sentences(task, text):
    assert task.parse(text).segments == (("Ann", "left", "."), ("She", "ran", "!"))


def test_an_empty_text_is_refused(task):
    with pytest.raises(ValueError, match="type a text"):
        task.parse(" | ")


def test_written_predictions_are_read_back_the_same(task, tmp_path):
    path = tmp_path / "predicted.conll"
    nested = [[[0, 0], [0, 3], [5, 5]], [[0, 4], [1, 3], [8, 10]]]
    task.write_predictions(EXAMPLES, [nested, []], path)
    first, second = task.read(path, "test", Counter())
    assert (first.id, first.segments) == ("bc/a_0", EXAMPLES[0].segments)
    assert first.target.speakers == EXAMPLES[0].target.speakers
    assert task.gold(first) == nested
    assert task.gold(second) == []


def test_gold_of_a_real_corpus_is_written_and_scored_as_100(task, tmp_path):
    gold = shared("data", "coref", "ontogum.dev.v4_gold_conll.gz")
    examples = list(task.read(gold, "dev", Counter()))
    path = tmp_path / "predicted.conll"
    task.write_predictions(examples, [task.gold(example) for example in examples], path)
    assert task.score_files(gold, path)["conll_f1"] == pytest.approx(100)
