"""Files of somebody else can name no code and lead to no other file."""

import json
import os
import pickle

import h5py
import pytest
import torch
import yaml

from elmo_bench import BiLm
from elmo_bench.config.compose import run_settings
from elmo_bench.errors import UserError
from elmo_bench.features.cache import find_caches
from elmo_bench.pretraining.identity import training_text
from elmo_bench.records.predictions import read_predictions
from elmo_bench.records.run import read_record
from elmo_bench.runs.optimizers import optimizer_factory
from elmo_bench.runs.predict import Predictor
from elmo_bench.training.checkpoints import (
    SealedCheckpoints,
    find_checkpoint,
    read_checkpoint,
)
from tests.bilm.official_files import write_official
from tests.conftest import PROJECT
from tests.damaged.kinds import _bilm, _run
from tests.report.synthetic_records import record, write

TARGETS = [
    "joblib.load",
    "os.system",
    "builtins.eval",
    "elmo_bench.tasks.ner.task.os.system",
    "elmo_bench.tasks.ner.data.read",
    "elmo_bench.tasks...os.task.system",
    "torch.optim.lr_scheduler.os",
    "torch.hub.load",
]


class Harm:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize("target", TARGETS)
def test_the_training_text_of_a_bilm_names_no_code(target, tmp_path):
    _bilm(tmp_path)
    path = tmp_path / "training.json"
    for key in ("corpus", "task", "data"):
        training = json.loads(path.read_text())
        training["settings"][key] = {"_target_": target, "filename": "x"}
        (tmp_path / "training.json").write_text(json.dumps(training))
        with pytest.raises(UserError):
            training_text(tmp_path)
    training["settings"]["task"]["build"] = {"_target_": target, "filename": "x"}
    path.write_text(json.dumps(training))
    with pytest.raises(UserError):
        training_text(tmp_path)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "place", [("build",), ("training", "optimizer"), ("training", "scheduler")]
)
def test_the_settings_of_a_run_name_no_code(target, place, tmp_path):
    _run(tmp_path)
    path = tmp_path / "run" / "settings.json"
    settings = json.loads(path.read_text())
    node = settings["task"]
    for part in place[:-1]:
        node = node[part]
    node[place[-1]] = {**(node[place[-1]] or {"_partial_": True}), "_target_": target}
    path.write_text(json.dumps(settings))
    with pytest.raises(UserError):
        Predictor(tmp_path / "run")


def test_an_optimizer_is_a_class_of_torch_and_nothing_else():
    settings = run_settings(["task=ner"]).task.training.optimizer
    for name in ("torch.optim.lr_scheduler.partial", "torch.optim.Optimizer"):
        with pytest.raises(UserError):
            optimizer_factory(settings.but(target=name))


def test_a_pickle_in_a_checkpoint_is_not_run(tmp_path):
    _run(tmp_path)
    weights = tmp_path / "run" / "checkpoints" / "best.ckpt"
    size, made = weights.stat().st_size, tmp_path / "harm"
    torch.save({"state_dict": Harm(made), "fill": torch.zeros(size)}, weights)
    with pytest.raises(UserError, match=r"best\.ckpt"):
        Predictor(tmp_path / "run")
    sealed = tmp_path / "resume.ckpt"
    SealedCheckpoints({}, keep=()).save_checkpoint({"harm": Harm(made)}, sealed)
    with pytest.raises(UserError, match=r"resume\.ckpt"):
        find_checkpoint(sealed, {})
    with pytest.raises(UserError, match=r"resume\.ckpt"):
        read_checkpoint(sealed)
    assert not made.exists()


def test_a_pickle_in_place_of_any_file_of_a_bilm_is_not_run(tmp_path):
    made = tmp_path / "harm"
    for name in ("config.yaml", "weights.safetensors", "softmax.safetensors", "training.json"):
        folder = tmp_path / name
        _bilm(folder)
        (folder / name).write_bytes(pickle.dumps(Harm(made)))
        with pytest.raises(UserError):
            BiLm.load(folder).perplexity([["a"]])
            training_text(folder)
    assert not made.exists()


def test_yaml_tags_make_no_objects(tmp_path):
    _bilm(tmp_path)
    made = tmp_path / "harm"
    values = yaml.safe_load((tmp_path / "config.yaml").read_text())
    text = yaml.dump({**values, "name": "NAME"})
    tag = f"!!python/object/apply:os.mkdir ['{made}']"
    (tmp_path / "config.yaml").write_text(text.replace("NAME", tag))
    with pytest.raises(UserError, match="YAML"):
        BiLm.load(tmp_path)
    assert not made.exists()


def test_environment_variables_are_not_read_into_a_config(tmp_path):
    _bilm(tmp_path)
    path = tmp_path / "config.yaml"
    path.write_text(path.read_text().replace("name: tiny", "name: ${oc.env:HOME}"))
    assert BiLm.load(tmp_path).name == "${oc.env:HOME}"


@pytest.mark.parametrize("link", ["external", "soft", "raw", "virtual"])
def test_official_weights_are_in_their_own_file(link, tmp_path):
    options, weights = write_official(tmp_path)
    with h5py.File(weights, "a") as file:
        value = file["CNN_proj/b_proj"][()]
        del file["CNN_proj/b_proj"]
        (tmp_path / "secret.bin").write_bytes(value.tobytes())
        with h5py.File(tmp_path / "secret.hdf5", "w") as other:
            other["b"] = value
        if link == "external":
            file["CNN_proj/b_proj"] = h5py.ExternalLink(str(tmp_path / "secret.hdf5"), "b")
        elif link == "soft":
            file["b"] = value
            file["CNN_proj/b_proj"] = h5py.SoftLink("/b")
        elif link == "raw":
            place = [(str(tmp_path / "secret.bin"), 0, h5py.h5f.UNLIMITED)]
            file.create_dataset("CNN_proj/b_proj", value.shape, "f4", external=place)
        else:
            layout = h5py.VirtualLayout(value.shape, dtype="f4")
            layout[:] = h5py.VirtualSource(str(tmp_path / "secret.hdf5"), "b", value.shape)
            file.create_virtual_dataset("CNN_proj/b_proj", layout)
    with pytest.raises(UserError, match="is missing, or is in another file"):
        BiLm.from_official(options, weights)


def test_a_record_leads_to_no_file_of_another_folder(tmp_path):
    path = write(record("ner"), tmp_path / "runs")
    values = json.loads(path.read_text())
    (tmp_path / "runs" / values["predictions"]).rename(tmp_path / "secret.gz")
    del values["checksum"]
    path.write_text(json.dumps({**values, "predictions": "../secret.gz"}))
    assert read_predictions(read_record(path)) is None


def test_a_cache_describes_no_folder_but_its_own(tmp_path):
    (tmp_path / "features" / "x").mkdir(parents=True)
    about = {"fingerprint": "../../../x", "dtype": "float32", "num_layers": 3, "dim": 4}
    (tmp_path / "features" / "x" / "about.json").write_text(json.dumps(about))
    assert find_caches(tmp_path / "features") == []


def test_no_code_unpickles():
    """Every torch.load is of weights only, which is NumPy's default too."""
    for path in [*PROJECT.glob("elmo_bench/**/*.py"), *PROJECT.glob("tasks/**/*.py")]:
        text = path.read_text(encoding="utf-8")
        assert "allow_pickle=True" not in text and "pickle.load" not in text, path
        assert text.count("torch.load(") <= text.count("weights_only=True"), path
