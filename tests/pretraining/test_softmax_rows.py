import pytest
import torch
from safetensors.torch import load_file
from torch.nn.utils import clip_grad_norm_
from torch.optim import Adagrad

from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.softmax import SampledSoftmax
from elmo_bench.bilm.softmax_rows import SoftmaxRows
from elmo_bench.pretraining.module import BilmTraining
from elmo_bench.pretraining.stage import pretrain
from tests.pretraining.tiny_pretraining import compose_pretraining, losses, tiny

WORDS, DIM, TOKENS, NEGATIVES = 300, 8, 12, 20
SAMPLED = (
    "pretraining.loss={kind:sampled,num_negatives:8}",
    "pretraining.optimizer={kind:adagrad,lr:0.1}",
    "pretraining.gradient_clip_val=0.5",
    "pretraining.accumulate_grad_batches=2",
)


def adagrad(parameters):
    return Adagrad(parameters, 0.2, initial_accumulator_value=1.0, eps=0.0)


@pytest.mark.parametrize("num_batches", [1, 3])
@pytest.mark.parametrize("clip", [0.05, 100.0])
def test_every_step_gives_what_training_the_whole_table_gives(num_batches, clip):
    torch.manual_seed(1)
    whole = SampledSoftmax(DIM, WORDS, NEGATIVES)
    sparse = SampledSoftmax(DIM, WORDS, NEGATIVES).requires_grad_(False)
    sparse.load_state_dict(whole.state_dict())
    rows = SoftmaxRows(WORDS, DIM, 2 * (TOKENS + NEGATIVES) * num_batches, 1.0)
    # Something else that is trained, so that clipping depends on both.
    other, same = (torch.nn.Parameter(torch.ones(DIM)) for _ in range(2))
    dense, paged = adagrad([*whole.parameters(), other]), adagrad([rows.weight, rows.bias, same])
    for step in range(6):
        untouched = torch.ones(WORDS, dtype=torch.bool)
        before = sparse.weight.clone()
        for batch in range(num_batches):
            hidden, seed = torch.randn(2, TOKENS, DIM), 10 * step + batch
            targets = torch.randint(WORDS, (2, TOKENS))
            found = whole.loss(hidden * other, targets, seed)
            again = sparse.loss(hidden * same, targets, seed, rows)
            torch.testing.assert_close(again, found)
            found.sum().backward()
            again.sum().backward()
        untouched[rows.words] = False
        norms = [clip_grad_norm_(o.param_groups[0]["params"], clip) for o in (dense, paged)]
        torch.testing.assert_close(*norms)
        rows.load_sums(paged)
        for optimizer in (dense, paged):
            optimizer.step()
            optimizer.zero_grad()
        rows.write_back((sparse.weight, sparse.bias), paged)
        torch.testing.assert_close(sparse.weight, whole.weight)
        torch.testing.assert_close(sparse.bias, whole.bias)
        torch.testing.assert_close(rows.weight_sums, dense.state[whole.weight]["sum"])
        torch.testing.assert_close(rows.bias_sums, dense.state[whole.bias]["sum"])
        torch.testing.assert_close(same, other)
        assert untouched.any() and sparse.weight[untouched].equal(before[untouched])
        assert not sparse.weight[~untouched].equal(before[~untouched])


def test_a_pretraining_gives_what_it_gave_with_the_whole_table(tmp_path, monkeypatch):
    results = {}
    for name in ("rows", "whole"):
        if name == "whole":
            monkeypatch.setattr(BilmTraining, "_new_rows", lambda self: None)
        folder = tmp_path / name
        folder.mkdir()
        found = pretrain(compose_pretraining(*tiny(folder, *SAMPLED)))
        curve = [float(line.split(",")[1]) for line in losses(folder)]
        results[name] = curve, load_file(found / "softmax.safetensors")
    assert results["rows"][0] == pytest.approx(results["whole"][0], rel=1e-5)
    assert results["rows"][0][-1] < results["rows"][0][0]
    assert results["rows"][1].keys() == {"weight", "bias"}
    for key, tensor in results["whole"][1].items():
        torch.testing.assert_close(results["rows"][1][key], tensor, rtol=1e-4, atol=1e-5)


def test_with_adam_the_whole_table_is_trained():
    settings = compose_pretraining("bilm=mini", "corpus=mini")
    bilm = BiLm(settings.bilm.architecture())
    softmax = SampledSoftmax(bilm.projection_dim, WORDS, NEGATIVES)
    assert settings.pretraining.optimizer.kind == "adam"
    assert BilmTraining(bilm, softmax, settings.pretraining).rows is None
    assert softmax.weight.requires_grad
