"""A run with a transformer in the place of the biLM, and runs whose biLM carries its state."""

import json
import shutil
import time
from pathlib import Path

import pytest

from elmo_bench.config.compose import run_settings
from elmo_bench.config.errors import ConfigError
from elmo_bench.features import transformer_files
from elmo_bench.runs.identity import identity, run_id
from elmo_bench.runs.inputs import check_inputs
from elmo_bench.runs.predict import Predictor
from elmo_bench.runs.stage import evaluate
from tests.conftest import TINY, paths_below
from tests.features.tiny_transformers import write_bert

NER = ("task=ner", "elmo=paper", "baseline=skip")


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return write_bert(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def settings_with(tmp_path, shared_cache):
    """Return a function for the settings of a tiny run with a transformer."""
    tiny = [word for word in TINY if not word.startswith("bilm.")]
    paths = [*paths_below(tmp_path), f"paths.cache={shared_cache}"]
    return lambda *words: run_settings([*tiny, *paths, *NER, "bilm=transformer", *words])


def test_a_run_mixes_all_layers_and_its_model_predicts(settings_with, bert, tmp_path):
    record = evaluate(settings_with(f"bilm.weights={bert}"))
    assert record.bilm == "tiny"
    assert len(record.layer_weights["input"]["weights"]) == 4
    [folder] = (tmp_path / "outputs" / "runs").iterdir()
    assert Predictor(folder)("Karl lives in Ostrava .").example.segments


def test_a_run_is_named_by_content_and_pooling(settings_with, bert, tmp_path):
    copy = shutil.copytree(bert, tmp_path / "copy")
    name = run_id(settings_with(f"bilm.weights={bert}"))
    assert run_id(settings_with(f"bilm.weights={copy}", "bilm.name=other")) == name
    names = {
        name,
        run_id(settings_with(f"bilm.weights={bert}", "bilm.pooling=first")),
        run_id(settings_with(f"bilm.weights={bert}", "bilm.window=8")),
        run_id(settings_with("bilm.weights=random", f"bilm.config={bert}")),
        run_id(settings_with(f"bilm.weights={write_bert(tmp_path / 'seeded', seed=3)}")),
    }
    with (copy / "vocab.txt").open("a") as vocabulary:
        vocabulary.write("another\n")
    assert len(names | {run_id(settings_with(f"bilm.weights={copy}"))}) == 6


def test_the_control_is_recorded_as_untrained(settings_with, bert):
    settings = settings_with("bilm.weights=random", f"bilm.config={bert}")
    assert settings.bilm.name == "tiny"
    assert identity(settings)["bilm"]["weights"] == "random"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bilm.weights=random"], "bilm.config=FOLDER_OR_HUB_ID"),
        (["bilm.weights=a", "bilm.config=b"], "bilm.config=FOLDER_OR_HUB_ID"),
        (["bilm.weights=a", "bilm.state=carry"], "bilm.state=carry: must be 'reset'"),
        (["bilm.weights=a", "bilm.finetune=true"], "bilm.finetune=true: must be False"),
        (["bilm.weights=a", "bilm.pooling=max"], "bilm.pooling=max: must be 'first', 'mean'"),
        (["bilm.weights=a", "words=corpus"], "words=corpus bilm=transformer"),
        ([], "bilm.weights: a value is missing"),
    ],
)
def test_what_a_transformer_cannot_do_is_refused(words, message):
    with pytest.raises(ConfigError, match=message):
        run_settings([*NER, "bilm=transformer", *words])


def test_a_model_that_cannot_be_had_is_an_error_in_a_second(settings_with, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    started = time.monotonic()
    with pytest.raises(FileNotFoundError, match=r"no transformer at owner/model: .* its folder"):
        check_inputs(settings_with("bilm.weights=owner/model"))
    assert time.monotonic() - started < 1


def test_a_model_in_the_cache_of_the_hub_is_found_without_a_network(bert, monkeypatch, tmp_path):
    snapshot = tmp_path / "models--owner--model" / "snapshots" / "abc"
    shutil.copytree(bert, snapshot)
    (tmp_path / "models--owner--model" / "refs").mkdir()
    (tmp_path / "models--owner--model" / "refs" / "main").write_text("abc")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    assert transformer_files.find_folder("owner/model").samefile(snapshot)


def test_without_the_package_the_error_says_how_to_install_it(settings_with, bert, monkeypatch):
    monkeypatch.setattr(transformer_files, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install 'elmo_bench\[transformers\]'"):
        check_inputs(settings_with(f"bilm.weights={bert}"))


def test_a_bilm_that_carries_its_state_is_another_run_and_predicts(tiny_run, tmp_path):
    reset, carry = (tiny_run(*NER, f"bilm.state={state}") for state in ("reset", "carry"))
    assert run_id(reset) != run_id(carry)
    record = evaluate(carry)
    assert record.config["bilm"]["state"] == "carry"
    [folder] = (tmp_path / "outputs" / "runs").iterdir()
    assert json.loads((Path(folder) / "settings.json").read_text())["bilm"]["state"] == "carry"
    assert Predictor(folder)("Karl lives in Ostrava .").example.segments


def test_a_state_is_not_carried_through_layers_that_are_computed_online():
    with pytest.raises(ConfigError, match="use features=cache"):
        run_settings([*NER, "bilm.state=carry", "features=online"])
