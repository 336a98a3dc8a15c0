"""What a loaded biLM computes is the same on the simulated GPU."""

import pytest
import torch

from elmo_bench.bilm.generate import continue_sentence
from elmo_bench.bilm.model import BiLm
from elmo_bench.devices import resolve_device
from elmo_bench.features.mix import ElmoMix
from elmo_bench.pretraining.stage import pretrain
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


@pytest.mark.parametrize("layer_norm", [None, "token", "batch"])
@pytest.mark.parametrize("layers", ["all", "last"])
def test_the_mix_is_that_of_the_cpu(gpu, layer_norm, layers):
    torch.manual_seed(1)
    stack = torch.randn(3 if layers == "all" else 1, 2, 4, 6)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    mix = ElmoMix(3, layers=layers, scale=[1.0, 2.0, 3.0], layer_norm=layer_norm, l2=0.1)
    mix.eval()
    here = mix(stack, mask), mix.penalty()
    mix.to(gpu.DEVICE)
    there = mix(stack.to(gpu.DEVICE), mask.to(gpu.DEVICE)), mix.penalty()
    for one, other in zip(here, there, strict=True):
        torch.testing.assert_close(other.cpu(), one)


def test_names_of_devices(gpu, monkeypatch):
    assert resolve_device("auto").type == resolve_device("gpu").type == "fakegpu"
    assert resolve_device("cpu").type == "cpu"
    with pytest.raises(ValueError, match="the device nonsense cannot be used here"):
        resolve_device("nonsense")
    monkeypatch.undo()
    assert resolve_device("auto").type == "cpu"
    with pytest.raises(ValueError, match="torch finds none"):
        resolve_device("gpu")
