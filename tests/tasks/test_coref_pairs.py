from contextlib import nullcontext

import pytest
import torch

from elmo_bench.kernels.compiled import without_kernel
from elmo_bench.tasks.coref import pairs as module
from elmo_bench.tasks.coref.mentions import MentionFinder
from elmo_bench.tasks.coref.model import marginal_loss
from elmo_bench.tasks.coref.pairs import (
    PairLayer,
    PairScorer,
    bucket,
    pair_layer,
    pairs_of,
)


def test_pairs_are_all_nearest_antecedents_in_order():
    pairs = pairs_of(1, 5, most=2, device=torch.device("cpu"))
    expected = [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (4, 2), (4, 3)]
    assert list(zip(*(side.tolist() for side in pairs), strict=True)) == expected


def test_distances_fall_into_the_published_buckets():
    distances = [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 999]
    expected = [0, 1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9]
    assert bucket(torch.tensor(distances)).tolist() == expected


def test_gradients_of_the_pair_layer_are_exact():
    torch.manual_seed(0)
    shapes = [(6, 2), (6, 3), (2, 3), (2, 3)]
    tensors = [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(lambda *given: PairLayer.apply(*given, 1, 6, 3), tensors)


def test_the_compiled_pair_layer_is_the_other_one():
    torch.manual_seed(0)
    shapes = [(60, 20), (60, 40), (20, 40), (20, 40)]
    tensors = [torch.randn(shape, requires_grad=True) for shape in shapes]
    portion, results = (10, 60, 25), []
    pairs = pairs_of(*portion, torch.device("cpu"))
    for context in (nullcontext(), without_kernel()):
        with context:
            outputs = pair_layer(*tensors, pairs, portion)
        results.append([outputs, *torch.autograd.grad(outputs.sin().sum(), tensors)])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def new_scorer(most: int = 3) -> PairScorer:
    torch.manual_seed(0)
    return PairScorer(4, 3, 2, 5, most, dropout=0.2).eval()


def test_a_pair_score_equals_that_of_the_concatenated_features():
    scorer, spans, mentions = new_scorer(), torch.randn(6, 4), torch.randn(6)
    speakers = torch.tensor([0, 1, 0, 0, 1, 1])
    scores = scorer(spans, mentions, speakers, genre=2)
    for i in range(6):
        for j in range(max(0, i - 3), i):
            same = int(speakers[i] == speakers[j])
            tables = [scorer.speaker.weight[same], scorer.genre.weight[2]]
            features = [*tables, scorer.distance.weight[i - j]]
            inputs = torch.cat([spans[i], spans[j], spans[i] * spans[j], *features])
            expected = scorer.mlp.rest(scorer.mlp.first(inputs)[None])[0] + mentions[i]
            torch.testing.assert_close(scores[i, i - j], expected + mentions[j])
    assert (scores[:, 0] == 0).all()
    assert scores[1].tolist()[2:] == [float("-inf")] * 2


def test_scores_do_not_depend_on_how_many_pairs_are_computed_at_once(monkeypatch):
    scorer, spans, mentions = new_scorer(), torch.randn(9, 4), torch.randn(9)
    speakers = torch.zeros(9, dtype=torch.long)
    together = scorer(spans, mentions, speakers, 1)
    monkeypatch.setattr(module, "PAIRS_AT_ONCE", 4)
    torch.testing.assert_close(scorer(spans, mentions, speakers, 1), together)


def test_a_single_span_has_no_antecedent():
    scores = new_scorer()(torch.randn(1, 4), torch.randn(1), torch.zeros(1).long(), 0)
    assert scores.tolist() == [[0]]


def test_a_mention_score_equals_that_of_the_whole_span_vector():
    torch.manual_seed(0)
    finder = MentionFinder(4, 3, 3, spans_per_word=1.0, feature_dim=2, hidden_dim=5, dropout=0.2)
    sentences = torch.tensor([0, 0, 0, 0, 1, 1, 1])
    mentions = finder.eval()(torch.randn(7, 4), torch.randn(7, 3), sentences)
    expected = finder.mlp.rest(finder.mlp.first(mentions.vectors))
    torch.testing.assert_close(mentions.scores, expected)


def test_the_loss_sums_the_probabilities_of_all_true_antecedents():
    scores = torch.tensor([[0.0, -torch.inf, -torch.inf], [0.0, 1.0, -torch.inf], [0.0, 2.0, -1.0]])
    probabilities = scores.softmax(dim=1)
    by_none = -probabilities[1, 0].log() - probabilities[2, 0].log()
    assert marginal_loss(scores, torch.tensor([1, 2, 0])) == pytest.approx(by_none.item())
    by_both = -probabilities[1, 1].log() - (probabilities[2, 1] + probabilities[2, 2]).log()
    assert marginal_loss(scores, torch.tensor([3, 3, 3])) == pytest.approx(by_both.item())
