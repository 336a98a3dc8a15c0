"""A transformer gives the layers that the package transformers gives, one vector per word."""

import shutil

import pytest
import torch
import transformers

from elmo_bench.data.files import DataError
from elmo_bench.features.encoder import Encoder, StatefulEncoder
from elmo_bench.features.loading import load_encoder
from elmo_bench.features.subwords import windows
from elmo_bench.features.transformer import TransformerEncoder
from tests.conftest import shared
from tests.features.tiny_transformers import write_bert, write_gpt2, write_roberta, write_t5

SENTENCES = [
    ("The", "cat", "sat", "."),
    ("unbelievably",),
    ("Don't", "sat", "New York"),
    ("the", "cat", "unbelievably", "sat"),
    ("a", "b", "c", "d"),
]
ODD = ("New York", "", " ", "\x00", "\u200b", "café", "e\u0301", "日本", "[SEP]", "\ud800", "\t\n")


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return write_bert(tmp_path_factory.mktemp("bert") / "tiny", seed=7)


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    return write_roberta(tmp_path_factory.mktemp("roberta") / "tiny")


@torch.no_grad()
def by_hand(folder, words):
    """Layers of the subwords of a sentence that fits, and the word of each."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, add_prefix_space=True)
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    inputs = tokenizer(list(words), is_split_into_words=True, return_tensors="pt")
    layers = torch.stack(model(**inputs, output_hidden_states=True).hidden_states)[:, 0]
    return layers, inputs.word_ids()


def pooled_by_hand(folder, words, pooling):
    layers, word_of = by_hand(folder, words)
    rows = [[i for i, word in enumerate(word_of) if word == number] for number in range(len(words))]
    pick = {"first": lambda r: layers[:, r[0]], "last": lambda r: layers[:, r[-1]]}
    pick["mean"] = lambda r: layers[:, r].mean(dim=1)
    return torch.stack([pick[pooling](row) for row in rows], dim=1)


@pytest.mark.parametrize("pooling", ["first", "mean", "last"])
@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_layers_are_those_of_transformers_called_by_hand(bert, pooling, batch_size):
    encoder = TransformerEncoder.load(bert, pooling=pooling)
    for words, found in zip(
        SENTENCES, encoder.embed(SENTENCES, batch_size=batch_size), strict=True
    ):
        torch.testing.assert_close(found, pooled_by_hand(bert, words, pooling))


def test_words_of_roberta_are_read_with_the_space_before_them(roberta):
    words = ("a", "bc", "d.")
    [found] = TransformerEncoder.load(roberta).embed([words])
    torch.testing.assert_close(found, pooled_by_hand(roberta, words, "mean"))


def test_real_weights_give_the_layers_of_transformers_called_by_hand():
    folder = shared("data", "weights", "minilm")
    words = ("The", "unbelievably", "long-winded", "Ostrava", "speech", ".")
    [found, _] = load_encoder(folder).embed([words, words[:2]])
    assert found.shape == (7, 6, 384)
    torch.testing.assert_close(found, pooled_by_hand(folder, words, "mean"), atol=1e-4, rtol=1e-4)


def test_a_vector_does_not_depend_on_the_rest_of_the_batch(bert):
    encoder = TransformerEncoder.load(bert)
    for words, found in zip(SENTENCES, encoder.embed(SENTENCES), strict=True):
        torch.testing.assert_close(found, encoder.embed([words])[0])


def test_every_word_gets_a_vector_whatever_it_consists_of(bert, roberta):
    for folder in (bert, roberta):
        encoder = TransformerEncoder.load(folder)
        sentences = [*((word,) for word in ODD), ODD, ("x" * 10_000, "é" * 10_000), ()]
        for words, found in zip(sentences, encoder.embed(sentences), strict=True):
            assert found.shape == (4, len(words), 8)
            assert found.isfinite().all()
        assert encoder.embed([]) == []


def test_a_word_without_subwords_is_read_as_an_unknown_word(bert):
    encoder = TransformerEncoder.load(bert)
    deleted, unknown = encoder.embed([("the", "\x00", "cat"), ("the", "[UNK]", "cat")])
    torch.testing.assert_close(deleted, unknown)


def test_a_long_sentence_is_read_in_overlapping_windows(bert):
    encoder = TransformerEncoder.load(bert)  # 16 positions, 14 without the frame
    words = tuple("abcdefghijklmnopqrstuvwxyz")
    [found] = encoder.embed([words])
    # Windows at 0, 7 and 12, kept up to the middle of what they share.
    for start, first, last in ((0, 0, 10), (7, 10, 16), (12, 16, 26)):
        layers, _ = by_hand(bert, words[start : start + 14])
        inner = layers[:, 1:-1][:, first - start : last - start]
        torch.testing.assert_close(found[:, first:last], inner)


@pytest.mark.parametrize("size", [1, 2, 5, 14])
@pytest.mark.parametrize("length", [1, 5, 14, 15, 29, 100])
def test_windows_keep_every_subword_once_and_with_context(length, size):
    kept = []
    for window in windows(length, size):
        assert 0 <= window.start < window.end <= length
        assert window.end - window.start <= size
        numbers = range(window.start, window.end)[window.kept]
        kept += numbers
        margin = size // 4
        assert numbers[0] == 0 or numbers[0] - window.start >= margin
        assert numbers[-1] == length - 1 or window.end - 1 - numbers[-1] >= margin
    assert kept == list(range(length))


def test_a_smaller_window_can_be_chosen_but_no_larger_one(bert, roberta):
    assert TransformerEncoder.load(bert, window=10).room == 8
    assert TransformerEncoder.load(roberta).room == 30 - 2
    with pytest.raises(ValueError, match=r"bilm\.window=17: tiny reads up to 16 subwords"):
        TransformerEncoder.load(bert, window=17)
    with pytest.raises(ValueError, match=r"bilm\.window=2"):
        TransformerEncoder.load(bert, window=2)


def test_the_fingerprint_is_that_of_content_and_settings(bert, tmp_path):
    def fingerprint(folder, **settings):
        return TransformerEncoder.load(folder, **settings).fingerprint()

    copy = shutil.copytree(bert, tmp_path / "copy")
    (copy / "README.md").write_text("Nothing that counts.")
    assert fingerprint(copy) == fingerprint(bert)
    with (copy / "vocab.txt").open("a") as vocabulary:
        vocabulary.write("another\n")
    different = {
        fingerprint(bert),
        fingerprint(bert, pooling="last"),
        fingerprint(bert, window=10),
        fingerprint(bert, untrained=True),
        fingerprint(write_bert(tmp_path / "other", seed=1)),
        fingerprint(copy),
    }
    assert len(different) == 6


def test_untrained_weights_are_random_but_the_same_every_time(bert):
    state = torch.random.get_rng_state()
    one, again = (TransformerEncoder.load(bert, untrained=True) for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert one.fingerprint() == again.fingerprint()
    [found], [expected] = one.embed(SENTENCES[:1]), again.embed(SENTENCES[:1])
    assert torch.equal(found, expected)
    assert not torch.allclose(found, TransformerEncoder.load(bert).embed(SENTENCES[:1])[0])


def test_the_encoder_of_an_encoder_decoder_is_used(tmp_path):
    encoder = TransformerEncoder.load(write_t5(tmp_path / "t5"))
    [found] = encoder.embed([("a", "bc")])
    assert found.shape == (3, 2, 8)


def test_a_model_that_reads_in_one_direction_is_refused(bert, tmp_path):
    causal_bert = write_bert(tmp_path / "decoder", is_decoder=True)
    for folder in (write_gpt2(tmp_path / "gpt2"), causal_bert):
        with pytest.raises(ValueError, match="reads from left to right only"):
            TransformerEncoder.load(folder)


def test_damaged_and_incomplete_models_are_refused_by_name(bert, tmp_path):
    copy = shutil.copytree(bert, tmp_path / "copy")
    weights = copy / "model.safetensors"
    from safetensors.torch import load_file, save_file

    tensors = load_file(weights)
    lost = "encoder.layer.1.output.dense.weight"
    pooler = [key for key in tensors if "pooler" in key]
    save_file({k: t for k, t in tensors.items() if k not in pooler}, weights, {"format": "pt"})
    assert TransformerEncoder.load(copy).num_layers == 4
    save_file({k: t for k, t in tensors.items() if k != lost}, weights, {"format": "pt"})
    with pytest.raises(DataError, match=f"1 weights are missing, the first is {lost}"):
        TransformerEncoder.load(copy)
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(DataError, match=r"copy: transformers cannot load the model"):
        TransformerEncoder.load(copy)


def test_a_name_is_a_bilm_or_a_transformer(bert):
    transformer, bilm = load_encoder(bert), load_encoder("english")
    assert isinstance(transformer, Encoder) and isinstance(bilm, StatefulEncoder)
    assert not isinstance(transformer, StatefulEncoder)
    assert (transformer.name, bilm.name) == ("tiny", "english")
    assert (transformer.num_layers, transformer.output_dim) == (4, 8)
