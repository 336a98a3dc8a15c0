from itertools import pairwise, product

import pytest
import torch
from torchcrf import CRF

from elmo_bench.data.tags import Transitions, bioul_transitions, iob2_transitions
from elmo_bench.nn.crf import ChainScores, Crf, log_partition, rule_scores, sequence_score, viterbi

BIOUL = ["O", "B-A", "I-A", "L-A", "U-A"]
LENGTHS = [4, 1, 3]


def anything(num_tags):
    row = [True] * num_tags
    return Transitions(row, [row] * num_tags, row)


def random_crf(allowed):
    torch.manual_seed(3)
    crf = Crf(allowed).double()
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    return crf


def batch(num_tags, size=1.0):
    torch.manual_seed(4)
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    return size * torch.randn(*mask.shape, num_tags, dtype=torch.float64), mask


def every_path(allowed, length):
    """All allowed tag sequences, listed one by one."""
    paths = product(range(len(allowed.start)), repeat=length)
    return [path for path in paths if is_allowed(allowed, path)]


def is_allowed(allowed, path):
    moves = all(allowed.between[before][after] for before, after in pairwise(path))
    return moves and allowed.start[path[0]] and allowed.end[path[-1]]


def path_score(crf, emissions, path):
    total = crf.start[path[0]] + crf.end[path[-1]]
    total = total + sum(emissions[time, tag] for time, tag in enumerate(path))
    return total + sum(crf.between[before, after] for before, after in pairwise(path))


@pytest.mark.parametrize("size", [1.0, 1000.0])
@pytest.mark.parametrize("allowed", [anything(3), bioul_transitions(BIOUL)])
def test_partition_is_the_sum_over_every_allowed_sequence(allowed, size):
    crf = random_crf(allowed)
    emissions, mask = batch(len(allowed.start), size)
    partition = log_partition(emissions, mask, crf.scores())
    for row, length in enumerate(LENGTHS):
        listed = [path_score(crf, emissions[row], path) for path in every_path(allowed, length)]
        torch.testing.assert_close(partition[row], torch.stack(listed).logsumexp(0))


def test_partition_is_exact_if_only_the_transitions_are_far_apart():
    crf, (emissions, mask) = random_crf(anything(3)), batch(3)
    crf.between.data *= 1000
    partition = log_partition(emissions, mask, crf.scores())
    for row, length in enumerate(LENGTHS):
        paths = every_path(anything(3), length)
        listed = [path_score(crf, emissions[row], path) for path in paths]
        torch.testing.assert_close(partition[row], torch.stack(listed).logsumexp(0))


@pytest.mark.parametrize("size", [1.0, 20.0, 100.0])
def test_partition_is_right_where_there_is_no_float64(monkeypatch, size):
    monkeypatch.setattr("elmo_bench.nn.crf.widest_float", lambda _: torch.float32)
    crf, (emissions, mask) = random_crf(anything(3)), batch(3, size)
    found = log_partition(emissions.float(), mask, ChainScores(*(s.float() for s in crf.scores())))
    monkeypatch.undo()
    exact = log_partition(emissions, mask, crf.scores())
    torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("size", [1.0, 1000.0])
@pytest.mark.parametrize("allowed", [anything(3), bioul_transitions(BIOUL)])
def test_decoding_finds_the_best_allowed_sequence(allowed, size):
    crf = random_crf(allowed)
    emissions, mask = batch(len(allowed.start), size)
    for row, path in enumerate(crf.decode(emissions, mask)):
        paths = every_path(allowed, LENGTHS[row])
        assert tuple(path) == max(paths, key=lambda p: path_score(crf, emissions[row], p))


def test_likelihoods_of_all_allowed_sequences_sum_to_one():
    allowed = iob2_transitions(["O", "B-A", "I-A", "B-B", "I-B"])
    emissions = batch(5)[0][:1]
    paths = torch.tensor(every_path(allowed, 4))
    emissions = emissions.expand(len(paths), -1, -1)
    likelihoods = random_crf(allowed)(emissions, paths, torch.ones_like(paths, dtype=torch.bool))
    torch.testing.assert_close(likelihoods.exp().sum().item(), 1.0)


@pytest.mark.parametrize("size", [1.0, 1000.0])
@pytest.mark.parametrize("allowed", [anything(5), bioul_transitions(BIOUL)])
def test_gradients_are_those_of_the_likelihood(allowed, size):
    crf = random_crf(allowed)
    emissions, mask = batch(5, size)
    tags = torch.tensor([[1, 2, 3, 0], [4, 0, 0, 0], [0, 1, 3, 0]])

    def likelihood(emissions, start, between, end):
        values = {"start": start, "between": between, "end": end}
        return torch.func.functional_call(crf, values, (emissions, tags, mask))

    assert torch.autograd.gradcheck(
        likelihood, (emissions.requires_grad_(), *crf.parameters()), atol=1e-4
    )


def test_loss_gradients_and_paths_equal_those_of_pytorch_crf():
    ours = random_crf(anything(7)).float()
    oracle = CRF(7, batch_first=True)
    oracle.load_state_dict(
        {
            "start_transitions": ours.start.data,
            "transitions": ours.between.data,
            "end_transitions": ours.end.data,
        }
    )
    emissions, mask = batch(7)
    emissions = emissions.float()
    tags = torch.randint(7, mask.shape)
    likelihood, expected = ours(emissions, tags, mask).sum(), oracle(emissions, tags, mask)
    torch.testing.assert_close(likelihood, expected)
    likelihood.backward(), expected.backward()
    torch.testing.assert_close(ours.between.grad, oracle.transitions.grad)
    torch.testing.assert_close(ours.start.grad, oracle.start_transitions.grad)
    torch.testing.assert_close(ours.end.grad, oracle.end_transitions.grad)
    assert ours.decode(emissions, mask) == oracle.decode(emissions, mask)


def test_padding_has_no_influence():
    crf = random_crf(bioul_transitions(BIOUL))
    emissions, mask = batch(5)
    tags = torch.zeros(mask.shape, dtype=torch.long)
    filled = emissions.masked_fill(~mask[:, :, None], float("nan")).requires_grad_()
    torch.testing.assert_close(crf(filled, tags, mask), crf(emissions, tags, mask))
    crf(filled, tags, mask).sum().backward()
    assert filled.grad.isfinite().all()
    assert crf.decode(filled, mask) == crf.decode(emissions, mask)


def test_the_fast_sum_stays_exact_in_float32_over_long_segments():
    crf = random_crf(bioul_transitions(BIOUL)).float()
    emissions = 20 * torch.randn(2, 2000, 5)
    mask = torch.ones(2, 2000, dtype=torch.bool)
    # Adding 1000 to every score, which no exponential survives, adds 1000 to each step.
    torch.testing.assert_close(
        log_partition(emissions + 1000, mask, crf.scores()),
        log_partition(emissions, mask, crf.scores()) + 2000 * 1000,
    )


def test_without_a_crf_decoding_uses_only_the_rules():
    emissions = torch.tensor([[[0.0, 0.0, 5.0], [1.0, 0.0, 2.0]]])  # O B-A I-A
    rules = rule_scores(iob2_transitions(["O", "B-A", "I-A"]))
    mask = torch.ones(1, 2, dtype=torch.bool)
    assert viterbi(emissions, mask, rules) == [[1, 2]]


def test_forbidden_sequences_score_as_forbidden():
    rules = rule_scores(iob2_transitions(["O", "B-A", "I-A"]))
    mask = torch.ones(1, 2, dtype=torch.bool)
    assert sequence_score(torch.zeros(1, 2, 3), torch.tensor([[0, 2]]), mask, rules) < -1e29
