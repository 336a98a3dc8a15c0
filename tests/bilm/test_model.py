import subprocess
import sys

import pytest
import torch

from elmo_bench import BiLm
from elmo_bench.config.compose import pretrain_settings

SENTENCES = [
    ["the", "cat", "sat", "on", "a", "mat", "."],
    ["Hi"],
    [],
    ["unforgettably", "naïve", "cats", "sat"],
    ["the", "cat"],
]


def read_architecture(name):
    return pretrain_settings([f"bilm={name}"]).bilm.architecture()


def changed(bilm, sentence, position):
    """Which time steps of each layer change, by direction, when one word changes."""
    other = [*sentence[:position], "CHANGED", *sentence[position + 1 :]]
    before, after = bilm.embed([sentence])[0], bilm.embed([other])[0]
    differs = (before != after).unflatten(2, (2, -1)).any(dim=3)  # (layer, time, direction)
    return differs[..., 0], differs[..., 1]


@pytest.mark.parametrize("position", range(7))
def test_each_direction_sees_only_its_side(tiny_bilm, position):
    forward, backward = changed(tiny_bilm, SENTENCES[0], position)
    assert not forward[:, :position].any() and forward[1:, position:].all()
    assert not backward[:, position + 1 :].any() and backward[1:, : position + 1].all()


def test_forward_states_get_no_gradient_from_later_words(tiny_bilm):
    words = tiny_bilm.encode_words(SENTENCES[0]).detach().requires_grad_()
    outputs, _ = tiny_bilm.forward_lstm(words[None])
    outputs[-1, 0, 3].sum().backward()
    assert words.grad[:4].abs().sum(dim=1).all() and not words.grad[4:].any()


def test_a_sentence_has_the_same_layers_alone_and_in_any_batch(any_bilm):
    alone = [any_bilm.embed([sentence])[0] for sentence in SENTENCES]
    for batch_size in (1, 2, 64):
        there = any_bilm.embed(SENTENCES, batch_size=batch_size)
        back = any_bilm.embed(SENTENCES[::-1], batch_size=batch_size)[::-1]
        for expected, *others in zip(alone, there, back, strict=True):
            for other in others:
                torch.testing.assert_close(other, expected, rtol=0, atol=1e-6)


def test_layers_are_the_embedded_sentences_padded_with_zeros(any_bilm):
    layers = any_bilm.layers(SENTENCES)
    assert layers.shape == (3, len(SENTENCES), 7, 16)
    for row, expected in enumerate(any_bilm.embed(SENTENCES)):
        length = expected.shape[1]
        torch.testing.assert_close(layers[:, row, :length], expected, rtol=0, atol=1e-6)
        assert not layers[:, row, length:].any()


def test_the_token_layer_is_the_word_vector_twice(tiny_bilm):
    words = tiny_bilm.encode_words(SENTENCES[0])
    torch.testing.assert_close(tiny_bilm.embed(SENTENCES[:1])[0][0], torch.cat([words, words], 1))


def test_carried_states_reach_the_next_sentence_and_not_the_next_call(tiny_bilm):
    first, second = tiny_bilm.embed(SENTENCES[:2], state="carry")
    alone = [tiny_bilm.embed([sentence], state="carry")[0] for sentence in SENTENCES[:2]]
    assert torch.equal(first, alone[0])
    assert not torch.allclose(second[1:], alone[1][1:])
    assert torch.equal(second[0], alone[1][0])


def test_carry_reads_each_sentence_from_the_previous_state(tiny_bilm):
    results = tiny_bilm.embed(SENTENCES, state="carry")
    states = tiny_bilm.forward_lstm.new_state(1), tiny_bilm.backward_lstm.new_state(1)
    for sentence, expected in zip(SENTENCES, results, strict=True):
        words = tiny_bilm.encode_words(["<S>", *sentence, "</S>"])[None]
        there, forward_state = tiny_bilm.forward_lstm(words, states[0])
        back, backward_state = tiny_bilm.backward_lstm(words.flip(1), states[1])
        states = forward_state, backward_state
        top = torch.cat([there[-1, 0], back[-1, 0].flip(0)], dim=1)[1:-1]
        torch.testing.assert_close(expected[-1], top, rtol=0, atol=1e-6)


def test_embed_does_not_change_training_or_gradient_mode(tiny_bilm):
    tiny_bilm.train()
    first, second = (tiny_bilm.embed(SENTENCES[:1])[0] for _ in range(2))
    assert torch.equal(first, second) and not first.requires_grad
    assert tiny_bilm.training and torch.is_grad_enabled()


def test_no_sentences_give_no_layers(tiny_bilm):
    assert tiny_bilm.embed([]) == [] and tiny_bilm.embed([], state="carry") == []


def test_an_unknown_state_is_rejected(tiny_bilm):
    with pytest.raises(ValueError, match="state is 'keep'"):
        tiny_bilm.embed(SENTENCES, state="keep")


@pytest.mark.parametrize(
    ("name", "millions"), [("small", 13.6), ("medium", 28.0), ("original", 93.6)]
)
def test_official_sizes_have_the_published_parameter_counts(name, millions):
    with torch.device("meta"):
        bilm = BiLm(read_architecture(name))
    assert round(bilm.num_parameters / 1e6, 1) == millions


def test_the_original_model_has_exactly_the_parameters_of_the_official_file():
    with torch.device("meta"):
        assert BiLm(read_architecture("original")).num_parameters == 93_600_848


def test_the_english_model_stays_small():
    with torch.device("meta"):
        assert BiLm(read_architecture("english")).num_parameters < 8e6


def test_the_fingerprint_depends_on_weights_and_settings(tiny_bilm):
    before = tiny_bilm.fingerprint()
    assert before == tiny_bilm.fingerprint()
    lstm = tiny_bilm.architecture.lstm.but(skip_connections=False)
    tiny_bilm.architecture = tiny_bilm.architecture.but(lstm=lstm)
    other_settings = tiny_bilm.fingerprint()
    tiny_bilm.forward_lstm.layers[0].bias.data[0] += 1
    assert len({before, other_settings, tiny_bilm.fingerprint()}) == 3


def test_importing_the_package_does_not_import_torch():
    code = "import sys, elmo_bench; print('torch' in sys.modules, elmo_bench.BiLm.__name__)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.split() == ["False", "BiLm"]
