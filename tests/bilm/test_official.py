import json

import h5py
import numpy as np
import pytest
import torch

from elmo_bench import BiLm
from elmo_bench.data.files import DataError
from tests.bilm.official_files import official_layers, write_official
from tests.conftest import shared


@pytest.fixture
def files(tmp_path):
    return write_official(tmp_path)


def change_options(path, section, **values):
    options = json.loads(path.read_text())
    options[section].update(values)
    path.write_text(json.dumps(options))


@pytest.mark.parametrize("state", ["reset", "carry"])
def test_official_weights_are_read_as_their_layout_says(files, state):
    sentences = [["The", "Überlänge", "antidisestablishmentarianism" * 2], ["."], ["a", "b", "c"]]
    layers = BiLm.from_official(*files).embed(sentences, state=state)
    expected = official_layers(files[1], sentences, carry=state == "carry")
    for sentence, found in zip(expected, layers, strict=True):
        assert np.abs(sentence[1:]).max() > 0.1
        np.testing.assert_allclose(found.numpy(), sentence, rtol=0, atol=1e-5)


def test_carried_states_reproduce_the_reference_activations():
    fixture = shared("elmo_fixture")
    bilm = BiLm.from_official(fixture / "options.json", fixture / "lm_weights.hdf5")
    streams = json.loads((fixture / "lm_embeddings_sentences.json").read_text())
    for number, stream in enumerate(streams):
        layers = bilm.embed([sentence.split() for sentence in stream], state="carry")
        with h5py.File(fixture / f"lm_embeddings_{number}.hdf5") as expected:
            for index, sentence in enumerate(layers):
                both = np.concatenate(list(expected[str(index)]), axis=1)
                np.testing.assert_allclose(sentence[-1].numpy(), both, rtol=0, atol=1e-5)


def test_reset_and_carried_states_give_different_activations():
    fixture = shared("elmo_fixture")
    bilm = BiLm.from_official(fixture / "options.json", fixture / "lm_weights.hdf5")
    stream = json.loads((fixture / "lm_embeddings_sentences.json").read_text())[0]
    sentences = [sentence.split() for sentence in stream[:2]]
    carried, fresh = (bilm.embed(sentences, state=state)[1] for state in ("carry", "reset"))
    assert (carried - fresh).abs().max() > 0.1


@pytest.mark.parametrize("skip_connections", [True, False])
def test_every_official_tensor_survives_a_round_trip_exactly(files, tmp_path, skip_connections):
    change_options(files[0], "lstm", use_skip_connections=skip_connections)
    bilm = BiLm.from_official(*files)
    bilm.dump_official(tmp_path / "o.json", tmp_path / "w.hdf5")
    again = BiLm.from_official(tmp_path / "o.json", tmp_path / "w.hdf5")
    assert again.architecture.lstm.skip_connections is skip_connections
    assert all(map(torch.equal, bilm.state_dict().values(), again.state_dict().values()))


def test_a_dumped_file_has_the_same_datasets_as_the_original(files, tmp_path):
    BiLm.from_official(*files).dump_official(tmp_path / "o.json", tmp_path / "w.hdf5")
    arrays = []
    for path in (files[1], tmp_path / "w.hdf5"):
        found = {}
        with h5py.File(path) as file:
            file.visititems(
                lambda name, item, found=found: (
                    found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None
                )
            )
        arrays.append(found)
    assert arrays[0].keys() == arrays[1].keys()
    assert all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[0])


def test_our_own_model_survives_the_official_format(tiny_bilm, tmp_path):
    tiny_bilm.dump_official(tmp_path / "o.json", tmp_path / "w.hdf5")
    again = BiLm.from_official(tmp_path / "o.json", tmp_path / "w.hdf5")
    sentence = [["Some", "words"]]
    assert torch.equal(again.embed(sentence)[0], tiny_bilm.embed(sentence)[0])


@pytest.mark.parametrize("num_chars", [261, 262])
def test_options_may_count_the_padding_character(files, num_chars):
    change_options(files[0], "char_cnn", n_characters=num_chars)
    assert BiLm.from_official(*files).encoder.chars.shape[0] == 261


def test_a_row_for_padding_is_dropped(files):
    rows = BiLm.from_official(*files).encoder.chars.detach()
    with h5py.File(files[1], "a") as file:
        del file["char_embed"]
        file["char_embed"] = np.concatenate([np.zeros((1, 4), np.float32), rows.numpy()])
    assert torch.equal(BiLm.from_official(*files).encoder.chars, rows)


def test_other_character_counts_are_rejected(files):
    change_options(files[0], "char_cnn", n_characters=300)
    with pytest.raises(DataError, match=r"n_characters is 300.*261 or 262"):
        BiLm.from_official(*files)


def test_a_missing_option_is_named(files):
    options = json.loads(files[0].read_text())
    del options["lstm"]["proj_clip"]
    files[0].write_text(json.dumps(options))
    with pytest.raises(DataError, match=r"options.json: lacks the option 'proj_clip'"):
        BiLm.from_official(*files)


def test_a_missing_dataset_is_named(files):
    with h5py.File(files[1], "a") as file:
        del file["CNN_high_1/b_carry"]
    with pytest.raises(DataError, match=r"lm_weights.hdf5: the dataset CNN_high_1/b_carry is miss"):
        BiLm.from_official(*files)


def test_a_wrong_shape_is_named_with_both_shapes(files):
    change_options(files[0], "lstm", dim=32)
    with pytest.raises(DataError, match=r"LSTMCell/W_0 has shape \(32, 256\).*\(32, 128\)"):
        BiLm.from_official(*files)


@pytest.mark.parametrize("kept", [0, 1000, 300_000])
def test_a_truncated_file_is_named(files, kept):
    files[1].write_bytes(files[1].read_bytes()[:kept])
    with pytest.raises(DataError, match=r"lm_weights.hdf5"):
        BiLm.from_official(*files)


def test_official_weights_can_be_fine_tuned(files):
    bilm = BiLm.from_official(*files).train()
    before = bilm.fingerprint()
    optimizer = torch.optim.SGD(bilm.parameters(), lr=0.1)
    bilm.layers([["to", "be", "tuned"]]).square().mean().backward()
    optimizer.step()
    assert all(parameter.grad is not None for parameter in bilm.parameters())
    assert bilm.fingerprint() != before


def test_only_character_cnns_have_an_official_format(word_bilm, tmp_path):
    with pytest.raises(ValueError, match=r"encoder 'word'.*char_cnn"):
        word_bilm.dump_official(tmp_path / "o.json", tmp_path / "w.hdf5")
