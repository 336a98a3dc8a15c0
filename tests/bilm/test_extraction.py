from contextlib import nullcontext

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.extraction import Reference
from elmo_bench import BiLm
from elmo_bench.bilm import extraction as extract
from elmo_bench.bilm import lstm
from elmo_bench.bilm.panels import PANEL_ROWS
from elmo_bench.config.bilm_settings import CharCnnSettings, CharRnnSettings, WordEncoderSettings
from elmo_bench.kernels.compiled import without_kernel
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


ENCODERS = {
    "char_cnn": CharCnnSettings(
        kind="char_cnn",
        char_dim=4,
        filters=[[1, 33], [3, 64]],
        num_highways=1,
        activation="tanh",
        max_chars=12,
    ),
    "char_rnn": CharRnnSettings(kind="char_rnn", char_dim=16, hidden_dim=64, max_chars=12),
    "word": WordEncoderSettings(kind="word", word_dim=6, vectors=None, trainable=True),
}
VOCABULARY = ["<S>", "</S>", "<UNK>", *(f"w{number}" for number in range(5))]
WORDS = st.text("abcdwxyz0123456789", min_size=1, max_size=15)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("encoder", ENCODERS)
@settings(max_examples=3)
@given(
    sentences=st.lists(st.lists(WORDS, min_size=1, max_size=9), min_size=2, max_size=5),
    batch_size=st.integers(1, 80),
    threads=st.integers(1, 2),
    data=st.data(),
)
def test_layers_of_a_sentence_depend_on_nothing_but_the_sentence(
    compiled, encoder, sentences, batch_size, threads, data
):
    torch.manual_seed(1)
    architecture = read_architecture("mini")
    if compiled and encoder != "char_rnn":  # PyTorch's products of few columns depend on the place
        architecture = architecture.but(lstm=architecture.lstm.but(hidden_dim=21, projection_dim=9))
    bilm = BiLm(architecture.but(encoder=ENCODERS[encoder]), VOCABULARY).eval()
    order = data.draw(st.permutations(range(len(sentences))))
    more = data.draw(st.sampled_from([0, 1, 70]))  # neighbors of other lengths, over several panels
    neighbors = [["w1", "neighbors"] * (1 + number % 5) for number in range(more)]
    before = torch.get_num_threads()
    with nullcontext() if compiled else without_kernel():
        alone = [bilm.embed([sentence])[0] for sentence in sentences]
        bilm.extractor.words.version = []  # forget all words
        try:
            torch.set_num_threads(threads if compiled else 1)
            together = bilm.embed([*(sentences[n] for n in order), *neighbors], "reset", batch_size)
        finally:
            torch.set_num_threads(before)
    assert all(torch.equal(together[place], alone[n]) for place, n in enumerate(order))


def test_steps_read_in_spans_give_the_same_layers(tiny_bilm, monkeypatch):
    sentences = [["w0", "w1", "w2"] * (1 + number % 3) for number in range(PANEL_ROWS + 3)]
    monkeypatch.setattr(lstm, "SPAN_ROWS", 2 * len(sentences))
    with without_kernel():
        in_spans = tiny_bilm.embed(sentences)
    for got, wanted in zip(in_spans, tiny_bilm.embed(sentences), strict=True):
        torch.testing.assert_close(got, wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", ["small", pytest.param("original", marks=pytest.mark.slow)])
def test_the_kernel_agrees_with_the_plain_cell_at_official_sizes(size):
    torch.manual_seed(1)
    bilm = BiLm(read_architecture(size)).eval()
    fast = bilm.embed(SENTENCES[:3])
    with without_kernel():
        plain = bilm.embed(SENTENCES[:3])
    for got, wanted in zip(fast, plain, strict=True):
        assert (got - wanted).abs().mean() < 1e-6


def test_the_benchmarks_reference_computes_the_same_layers(tiny_bilm):
    words = ["<S>", "</S>", *{word for sentence in SENTENCES for word in sentence}]
    with torch.no_grad():
        for reference in (Reference(tiny_bilm), Reference(tiny_bilm, words)):
            pairs = zip(reference.embed(SENTENCES), tiny_bilm.embed(SENTENCES), strict=True)
            for got, wanted in pairs:
                torch.testing.assert_close(got, wanted, rtol=0, atol=1e-5)
