import pytest
import torch

from benchmarks.extraction import Reference
from elmo_bench import BiLm
from elmo_bench.bilm import extraction as extract
from elmo_bench.bilm import lstm
from tests.bilm.test_model import read_architecture

SENTENCES = [[f"w{number % 7}", f"w{number}", "end"][: 1 + number % 3] for number in range(30)]


class Counting(torch.nn.Module):
    """An encoder that records the words it is given."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.seen = encoder, []

    def ids(self, words):
        self.seen += words
        return self.encoder.ids(words)

    def forward(self, ids):
        return self.encoder(ids)


@pytest.fixture
def counting(tiny_bilm, monkeypatch):
    encoder = Counting(tiny_bilm.encoder)
    monkeypatch.setattr(tiny_bilm.extractor.words, "encoder", encoder)
    return tiny_bilm, encoder.seen


def test_a_word_is_encoded_once_however_often_it_occurs(counting):
    bilm, seen = counting
    bilm.embed(SENTENCES, batch_size=2)
    bilm.embed(SENTENCES[::-1])
    assert len(seen) == len(set(seen))


def test_chunks_and_a_tiny_cache_do_not_change_the_layers(tiny_bilm, monkeypatch):
    expected = tiny_bilm.embed(SENTENCES)
    monkeypatch.setattr(extract, "CHUNK_TOKENS", 5)
    tiny_bilm.extractor.words.max_words = 4
    for got, wanted in zip(tiny_bilm.embed(SENTENCES), expected, strict=True):
        torch.testing.assert_close(got, wanted, rtol=0, atol=1e-6)


def test_the_cache_stays_within_its_limit_and_drops_the_oldest_words(tiny_bilm):
    cache = extract.WordCache(tiny_bilm.encoder, max_words=3)
    with torch.no_grad():
        for word in "abcde":
            cache([word])
        table, rows = cache(["d"])
    assert list(rows) == ["c", "d", "e"] and len(table) == 3
    torch.testing.assert_close(table[rows["e"]], tiny_bilm.encode_words(["e"])[0])


def test_cached_words_are_recomputed_after_an_encoder_update(tiny_bilm):
    before = tiny_bilm.embed(SENTENCES[:1])[0]
    optimizer = torch.optim.SGD(tiny_bilm.encoder.parameters(), lr=1.0)
    tiny_bilm.encode_words(["w0"]).sum().backward()
    optimizer.step()
    after = tiny_bilm.embed(SENTENCES[:1])[0]
    assert not torch.allclose(after, before)
    torch.testing.assert_close(after[0, 0, :8], tiny_bilm.encode_words(["w0"])[0])


def test_reading_long_streams_in_pieces_does_not_change_the_layers(tiny_bilm, monkeypatch):
    expected = tiny_bilm.embed(SENTENCES, state="carry")
    monkeypatch.setattr(extract, "STREAM_TOKENS", 4)
    for got, wanted in zip(tiny_bilm.embed(SENTENCES, state="carry"), expected, strict=True):
        torch.testing.assert_close(got, wanted, rtol=0, atol=1e-6)


def test_two_threads_give_the_same_layers_as_one(tiny_bilm):
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        two = tiny_bilm.embed(SENTENCES)
        assert torch.get_num_threads() == 2
        torch.set_num_threads(1)
        one = tiny_bilm.embed(SENTENCES)
    finally:
        torch.set_num_threads(threads)
    for got, wanted in zip(two, one, strict=True):
        torch.testing.assert_close(got, wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", ["small", pytest.param("original", marks=pytest.mark.slow)])
def test_the_kernel_agrees_with_the_plain_cell_at_official_sizes(size, monkeypatch):
    torch.manual_seed(1)
    bilm = BiLm(read_architecture(size)).eval()
    fast = bilm.embed(SENTENCES[:3])
    monkeypatch.setattr(lstm, "load_kernel", lambda: None)
    for got, wanted in zip(fast, bilm.embed(SENTENCES[:3]), strict=True):
        assert (got - wanted).abs().mean() < 1e-6


def test_the_benchmarks_reference_computes_the_same_layers(tiny_bilm):
    words = ["<S>", "</S>", *{word for sentence in SENTENCES for word in sentence}]
    with torch.no_grad():
        for reference in (Reference(tiny_bilm), Reference(tiny_bilm, words)):
            pairs = zip(reference.embed(SENTENCES), tiny_bilm.embed(SENTENCES), strict=True)
            for got, wanted in pairs:
                torch.testing.assert_close(got, wanted, rtol=0, atol=1e-5)
