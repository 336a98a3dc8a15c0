import pytest
import torch

from elmo_bench.features.mix import ElmoMix, layer_numbers, layer_rms


@pytest.fixture
def layers():
    return torch.randn(3, 2, 5, 4, generator=torch.Generator().manual_seed(1))


def padded_mask():
    return torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


def test_untrained_mix_is_the_mean_of_the_layers(layers):
    torch.testing.assert_close(ElmoMix(3)(layers, padded_mask()), layers.mean(dim=0))


def test_mix_is_gamma_times_the_softmax_weighted_sum(layers):
    mix = ElmoMix(3)
    mix.weights.data = torch.tensor([0.0, 1.0, -2.0])
    mix.gamma.data = torch.tensor(1.5)
    share = torch.tensor([0.0, 1.0, -2.0]).softmax(0)
    expected = 1.5 * (share[0] * layers[0] + share[1] * layers[1] + share[2] * layers[2])
    torch.testing.assert_close(mix(layers, padded_mask()), expected)


@pytest.mark.parametrize(("use", "layer"), [("last", 2), ("first", 1), ("token", 0)])
def test_a_single_layer_has_gamma_and_no_weights(use, layer, layers):
    mix = ElmoMix(3, layers=use)
    mix.gamma.data = torch.tensor(2.0)
    assert mix.numbers == (layer,)
    assert [name for name, _ in mix.named_parameters()] == ["gamma"]
    torch.testing.assert_close(mix(layers[[layer]], padded_mask()), 2 * layers[layer])


def test_layer_numbers_of_each_choice():
    assert [layer_numbers(use, 3) for use in ("all", "last", "first", "token")] == [
        (0, 1, 2),
        (2,),
        (1,),
        (0,),
    ]


def test_the_first_lstm_layer_may_also_be_the_last():
    assert layer_numbers("first", 2) == layer_numbers("last", 2) == (1,)
    with pytest.raises(ValueError, match="at least 2 layers"):
        layer_numbers("first", 1)


@pytest.mark.parametrize("norm", [None, "batch", "token"])
def test_gradients_are_correct(norm, layers):
    mix = ElmoMix(3, layer_norm=norm, scale=[1.8, 0.6, 0.9]).double()
    given = layers.double()

    def mixed(weights, gamma):
        values = {"weights": weights, "gamma": gamma}
        return torch.func.functional_call(mix, values, (given, padded_mask()))

    weights = torch.tensor([0.3, -0.2, 0.9], dtype=torch.float64, requires_grad=True)
    gamma = torch.tensor(1.3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(mixed, (weights, gamma))


def test_scale_divides_each_layer_by_its_size(layers):
    expected = (layers / torch.tensor([1.8, 0.6, 0.9]).view(3, 1, 1, 1)).mean(dim=0)
    torch.testing.assert_close(ElmoMix(3, scale=[1.8, 0.6, 0.9])(layers), expected)


def test_a_single_layer_is_divided_by_its_own_scale(layers):
    torch.testing.assert_close(ElmoMix(3, "last", [1.8, 0.6, 0.9])(layers[2:]), layers[2] / 0.9)


def test_batch_norm_is_one_mean_and_variance_per_layer_over_unmasked_tokens(layers):
    mask = padded_mask()
    mixed = ElmoMix(1, layer_norm="batch")(layers[1:2], mask)
    tokens = mixed[mask]
    torch.testing.assert_close(tokens.mean(), torch.tensor(0.0), atol=1e-6, rtol=0)
    torch.testing.assert_close(tokens.var(correction=0), torch.tensor(1.0))


def test_batch_norm_ignores_padding(layers):
    mask, mix = padded_mask(), ElmoMix(3, layer_norm="batch")
    other = layers.masked_fill(~mask[None, :, :, None], 99.0)
    torch.testing.assert_close(mix(layers, mask)[mask], mix(other, mask)[mask])


def test_token_norm_is_independent_of_other_tokens(layers):
    mix = ElmoMix(3, layer_norm="token")
    torch.testing.assert_close(mix(layers)[:, :2], mix(layers[:, :, :2]))


def test_token_norm_is_one_mean_and_variance_per_token(layers):
    mixed = ElmoMix(1, layer_norm="token")(layers[1:2])
    torch.testing.assert_close(mixed.mean(dim=2), torch.zeros(2, 5), atol=1e-6, rtol=0)
    torch.testing.assert_close(mixed.var(dim=2, correction=0), torch.ones(2, 5))


@pytest.mark.parametrize("norm", ["batch", "token"])
def test_a_single_layer_is_never_normalized(norm, layers):
    assert torch.equal(ElmoMix(3, layers="last", layer_norm=norm)(layers[2:]), layers[2])


def test_without_gamma_the_scale_stays_1(layers):
    mix = ElmoMix(3, layers="last", gamma=False)
    assert mix.summary()["gamma"] == 1 and not any(p.requires_grad for p in mix.parameters())
    assert torch.equal(mix(layers[2:]), layers[2])


def test_constant_layers_are_normalized_to_zero_not_nan():
    assert ElmoMix(2, layer_norm="batch")(torch.ones(2, 1, 3, 4)).eq(0).all()


def test_penalty_is_lambda_times_the_square_of_the_raw_weights():
    mix = ElmoMix(3, l2=0.1)
    mix.weights.data = torch.tensor([1.0, 2.0, -2.0])
    torch.testing.assert_close(mix.penalty(), torch.tensor(0.9))
    assert ElmoMix(3, layers="last", l2=0.1).penalty() == 0


def test_there_is_no_penalty_unless_it_is_asked_for():
    mix = ElmoMix(3)
    mix.weights.data = torch.tensor([1.0, 2.0, -2.0])
    assert mix.penalty() == 0


def test_dropout_applies_to_the_mixed_vector_only_in_training(layers):
    mix = ElmoMix(3, dropout=0.5)
    assert (mix(layers) == 0).any()
    assert not (mix.eval()(layers) == 0).any()


def test_one_sentence_may_be_mixed_without_a_batch_axis(layers):
    torch.testing.assert_close(ElmoMix(3)(layers[:, 0]), layers[:, 0].mean(dim=0))


def test_wrong_number_of_layers_is_reported(layers):
    with pytest.raises(ValueError, match=r"takes the 3 layers \(0, 1, 2\).*given 2"):
        ElmoMix(3)(layers[:2])


def test_invalid_settings_are_rejected():
    for setting in ({"layers": "top"}, {"layer_norm": "layer"}, {"scale": [1.0, 2.0]}):
        with pytest.raises(ValueError, match=rf"elmo\.{next(iter(setting))}"):
            ElmoMix(3, **setting)


def test_summary_contains_normalized_weights_and_gamma():
    assert ElmoMix(2).summary() == {"weights": [0.5, 0.5], "gamma": 1.0}
    assert ElmoMix(3, layers="last").summary() == {"weights": [1.0], "gamma": 1.0}


def test_layer_rms_covers_all_tokens_of_all_segments():
    short, long = torch.full((2, 1, 4), 3.0), torch.zeros(2, 8, 4)
    assert layer_rms([short, long]) == [1.0, 1.0]
