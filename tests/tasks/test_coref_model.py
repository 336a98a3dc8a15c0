from collections import Counter

import pytest
import torch

from elmo_bench.nn.packed import Packing, Recurrence
from elmo_bench.task import collate
from elmo_bench.tasks.coref.encoder import CoupledBiLstm, CoupledCell
from tests.conftest import shared
from tests.tasks.building import elmo_of, new_model, new_task
from tests.tasks.cases.coref import EXAMPLES


@pytest.fixture
def task():
    return new_task("coref")


def test_training_reads_consecutive_sentences_and_evaluation_reads_all():
    model = new_model(new_task("coref", max_sentences=2), EXAMPLES)
    seen = set()
    for _ in range(20):
        excerpt = model.excerpt(EXAMPLES[0], (0, 1, 2))
        seen.add((excerpt.rows, excerpt.offset))
    assert seen == {((0, 1), 0), ((1, 2), 5)}
    assert model.eval().excerpt(EXAMPLES[0], (0, 1, 2)).rows == (0, 1, 2)


def test_an_excerpt_in_training_has_finite_gradients():
    model = new_model(new_task("coref", max_sentences=1), EXAMPLES, ["input"])
    batch = collate(EXAMPLES)
    model(batch, elmo_of(batch, ["input"])).loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_predicted_mentions_are_in_one_cluster_and_do_not_cross(task):
    for clusters in new_model(task, EXAMPLES).eval()(collate(EXAMPLES), {}).predictions:
        mentions = sorted(tuple(mention) for cluster in clusters for mention in cluster)
        assert len(mentions) == len(set(mentions))
        assert not any(a < c <= b < d for a, b in mentions for c, d in mentions)


def test_a_single_word_is_a_document(task):
    example = task.parse("Hello")
    assert new_model(task, EXAMPLES).eval()(collate([example]), {}).predictions == [[]]


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


def test_the_encoder_follows_the_equations():
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


def test_an_annotation_counts_words_from_the_start_of_their_sentence(task):
    spans = task.annotate(EXAMPLES[0], [[[0, 0], [5, 5]], [[2, 3], [8, 10]]]).spans
    assert spans == ((0, 0, 0, "1"), (0, 2, 3, "2"), (1, 0, 0, "1"), (2, 0, 2, "2"))


@pytest.mark.parametrize("text", ["Ann left. She ran!", "Ann left . | She ran !"])
def test_a_text_is_split_into_sentences(task, text):
    assert task.parse(text).segments == (("Ann", "left", "."), ("She", "ran", "!"))


def test_an_empty_text_is_rejected(task):
    with pytest.raises(ValueError, match="type a text"):
        task.parse(" | ")


def test_written_predictions_are_read_back_unchanged(task, tmp_path):
    path = tmp_path / "predicted.conll"
    nested = [[[0, 0], [0, 3], [5, 5]], [[0, 4], [1, 3], [8, 10]]]
    task.write_predictions(EXAMPLES, [nested, []], path)
    first, second = task.read(path, "test", Counter())
    assert (first.id, first.segments) == ("bc/a_0", EXAMPLES[0].segments)
    assert first.target.speakers == EXAMPLES[0].target.speakers
    assert task.gold(first) == nested
    assert task.gold(second) == []


def test_gold_of_a_real_corpus_written_as_predictions_scores_100(task, tmp_path):
    gold = shared("data", "coref", "ontogum.dev.v4_gold_conll.gz")
    examples = list(task.read(gold, "dev", Counter()))
    path = tmp_path / "predicted.conll"
    task.write_predictions(examples, [task.gold(example) for example in examples], path)
    assert task.score_files(gold, path)["conll_f1"] == pytest.approx(100)
