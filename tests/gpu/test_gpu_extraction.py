"""What a loaded biLM computes is the same on the simulated GPU."""

import pytest
import torch

from elmo_bench.bilm.generate import continue_sentence, fill_blank
from elmo_bench.bilm.model import BiLm
from elmo_bench.devices import free_memory, resolve_device, set_matmul_precision
from elmo_bench.features.loading import load_encoder
from elmo_bench.features.mix import ElmoMix
from elmo_bench.pretraining.stage import pretrain
from tests.features.tiny_transformers import write_bert
from tests.pretraining.tiny_pretraining import compose_pretraining, tiny

SENTENCES = [["word1", "word2", "strange"], ["word3"], ["word4"] * 9, ["word7", "word8"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return pretrain(compose_pretraining(*tiny(tmp_path_factory.mktemp("bilm"))))


@pytest.fixture
def both(gpu, folder):
    return BiLm.load(folder), BiLm.load(folder, "auto")


@pytest.mark.parametrize("state", ["reset", "carry"])
@pytest.mark.parametrize("batch_size", [None, 2])
def test_embedded_layers_are_those_of_the_cpu(both, state, batch_size):
    here, there = (bilm.embed(SENTENCES, state, batch_size) for bilm in both)
    assert both[1].device.type == "fakegpu"
    for one, other in zip(here, there, strict=True):
        assert other.device.type == "cpu"
        torch.testing.assert_close(other, one, rtol=1e-4, atol=1e-5)


def test_many_sentences_are_copied_back_once_per_batch(gpu, both):
    both[1].embed(SENTENCES)  # the words are in the cache now
    gpu.Counts()
    both[1].embed(SENTENCES * 20)
    counted = gpu.Counts()
    assert counted.copies["d2h"] == 1
    assert counted.num_syncs == 1


def test_batches_are_as_large_as_the_free_memory_allows(gpu, both, monkeypatch):
    expected = both[0].embed(SENTENCES)
    both[1].embed(SENTENCES)  # the words are in the cache now
    for free, num_batches in ((1_000_000, 1), (18_500, 3), (0, 4)):  # 2,304 bytes per token
        monkeypatch.setattr("elmo_bench.bilm.extraction.free_memory", lambda _, free=free: free)
        gpu.Counts()
        found = both[1].embed(SENTENCES)
        assert gpu.Counts().copies["d2h"] == num_batches
        for one, other in zip(expected, found, strict=True):
            torch.testing.assert_close(other, one, rtol=1e-4, atol=1e-5)


def test_layers_of_a_transformer_are_those_of_the_cpu(gpu, tmp_path):
    folder = str(write_bert(tmp_path / "bert"))
    encoders = load_encoder(folder, "cpu"), load_encoder(folder, "auto")
    assert encoders[1].device.type == "fakegpu"
    here, there = (encoder.embed([("the", "cat"), ("unbelievably",)]) for encoder in encoders)
    for one, other in zip(here, there, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-4, atol=1e-5)


def test_differentiable_layers_are_those_of_the_cpu(both):
    here, there = (bilm.layers(SENTENCES) for bilm in both)
    torch.testing.assert_close(there.cpu(), here, rtol=1e-4, atol=1e-5)
    there.sum().backward()
    assert all(p.grad is not None for p in both[1].parameters())


def test_perplexity_and_generated_text_are_those_of_the_cpu(both):
    here, there = (bilm.perplexity(SENTENCES) for bilm in both)
    assert there == pytest.approx(here, rel=1e-4)
    texts = [continue_sentence(bilm, ["word1"], 5, 0.0, seed=1) for bilm in both]
    assert texts[0] == texts[1]
    drawn = [continue_sentence(both[1], ["word1"], 5, 1.0, seed=1) for _ in range(2)]
    assert drawn[0] == drawn[1]
    filled = [dict(fill_blank(bilm, ["word1", "___", "word3"], 5)) for bilm in both]
    assert filled[1] == pytest.approx(filled[0], rel=1e-3)


@pytest.mark.parametrize("layer_norm", [None, "token", "batch"])
@pytest.mark.parametrize("layers", ["all", "last", "first", "token"])
@pytest.mark.parametrize("scale", [None, [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("gamma", [True, False])
def test_the_mix_and_its_gradients_are_those_of_the_cpu(gpu, layer_norm, layers, scale, gamma):
    torch.manual_seed(1)
    stack = torch.randn(3 if layers == "all" else 1, 2, 4, 6)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    found = []
    for device in ("cpu", gpu.DEVICE):
        how = {"scale": scale, "layer_norm": layer_norm, "l2": 0.1, "gamma": gamma}
        mix = ElmoMix(3, layers=layers, **how).to(device)
        mixed, penalty = mix(stack.to(device), mask.to(device)), mix.penalty()
        trained = [p for p in mix.parameters() if p.requires_grad]
        total = mixed.square().sum() + penalty
        slopes = torch.autograd.grad(total, trained, allow_unused=True) if trained else ()
        found.append([mixed, penalty, *(slope for slope in slopes if slope is not None)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(other.cpu(), one)


def test_the_dropout_of_the_mix_runs_on_the_device(gpu):
    mix = ElmoMix(3, dropout=0.5).to(gpu.DEVICE)
    mixed = mix(torch.ones(3, 2, 50, 6).to(gpu.DEVICE), torch.ones(2, 50).bool().to(gpu.DEVICE))
    assert mixed.cpu().unique().tolist() == [0.0, 2.0]


def test_memory_that_torch_keeps_for_later_is_free(monkeypatch):
    numbers = {"mem_get_info": (100, 999), "memory_reserved": 50, "memory_allocated": 20}
    for name, number in numbers.items():
        monkeypatch.setattr(torch.cuda, name, lambda _, number=number: number)
    assert free_memory(torch.device("cuda", 0)) == 130


def test_products_use_tf32_on_gpus_unless_forbidden(gpu):
    before = torch.get_float32_matmul_precision()
    try:
        for chosen, expected in ((None, "high"), ("highest", "highest"), ("medium", "medium")):
            set_matmul_precision(chosen, gpu.DEVICE)
            assert torch.get_float32_matmul_precision() == expected
        set_matmul_precision("high", torch.device("cpu"))
        assert torch.get_float32_matmul_precision() == "medium"  # as it was
    finally:
        torch.set_float32_matmul_precision(before)


def test_names_of_devices(gpu, monkeypatch):
    assert resolve_device("auto").type == resolve_device("gpu").type == "fakegpu"
    assert resolve_device("cpu").type == "cpu"
    with pytest.raises(ValueError, match="the device nonsense cannot be used here"):
        resolve_device("nonsense")
    monkeypatch.undo()
    assert resolve_device("auto").type == "cpu"
    with pytest.raises(ValueError, match="torch finds none"):
        resolve_device("gpu")
