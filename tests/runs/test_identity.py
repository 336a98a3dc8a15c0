"""A run is known by what it computes: content counts, names and places do not."""

import os
import shutil
import time

import pytest
import torch

from elmo_bench.bilm.model import BiLm
from elmo_bench.config.bilm_settings import Architecture
from elmo_bench.config.compose import run_settings
from elmo_bench.records import remembered as memory
from elmo_bench.runs.identity import identity, run_id
from elmo_bench.tasks.ner.settings import Settings as NerSettings
from tests.conftest import paths_below


@pytest.fixture
def name_of(tmp_path):
    """Return a function for the name of a run with some overrides."""

    def run_name(*overrides: str) -> str:
        return run_id(run_settings(["task=ner", *paths_below(tmp_path), *overrides]))

    return run_name


def write_corpus(folder, word="Ostrava"):
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (folder / f"{split}.txt").write_text(f"{word} B-LOC\n. O\n\n{split} O\n")
    return folder


def test_an_edited_data_file_makes_another_run(name_of, tmp_path):
    corpus = write_corpus(tmp_path / "corpus")
    files = ["data=files", f"data.dir={corpus}"]
    before = name_of(*files)
    for split in ("train", "dev", "test"):
        changed = (corpus / f"{split}.txt").read_text().replace("LOC", "ORG")
        (corpus / f"{split}.txt").write_text(changed)  # of the same size
        assert name_of(*files) != before
        before = name_of(*files)


def test_the_same_data_elsewhere_and_under_other_names_is_the_same_run(name_of, tmp_path):
    here, there = write_corpus(tmp_path / "here"), write_corpus(tmp_path / "there")
    (there / "train.txt").rename(there / "renamed.txt")
    moved = [f"data.dir={there}", f"data.train={there}/renamed.txt", "data.name=mine"]
    assert name_of("data=files", f"data.dir={here}") == name_of("data=files", *moved)


def test_another_vector_file_at_the_same_path_makes_another_run(name_of, tmp_path):
    vectors = tmp_path / "vectors.txt"
    words = ["words=glove", f"words.path={vectors}", "elmo=none"]
    vectors.write_text("the 0.1 0.2\n")
    before = name_of(*words)
    vectors.write_text("the 0.1 0.3\n")
    assert name_of(*words) != before
    shutil.copy(vectors, tmp_path / "copy.txt")
    assert name_of(*words) == name_of(*words[:1], f"words.path={tmp_path}/copy.txt", "elmo=none")


def test_the_content_of_every_vector_file_counts(name_of, tmp_path):
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("the 0.1 0.2\n")
    two.write_text("the 0.1 0.3\n")

    def joined(*paths):
        return name_of("words=glove", f"words.path=[{','.join(map(str, paths))}]", "elmo=none")

    assert len({joined(one), joined(two), joined(one, two), joined(two, one)}) == 4
    assert joined(one) == name_of("words=glove", f"words.path={one}", "elmo=none")
    before = joined(one, two)
    two.write_text("the 0.1 0.4\n")
    assert joined(one, two) != before


def test_a_layer_alone_is_the_same_run_whatever_would_norm_or_weight_it(name_of):
    last = ["task=snli", "bilm.weights=random", "elmo=last"]
    assert name_of(*last, "elmo.layer_norm=null", "elmo.l2=1.0") == name_of(*last)
    assert name_of(*last, "elmo.gamma=false") != name_of(*last)


def save_bilm(folder, seed):
    sizes = ["bilm.encoder.filters=[[1,4]]", "bilm.lstm.hidden_dim=6", "bilm.lstm.projection_dim=4"]
    torch.manual_seed(seed)
    BiLm(run_settings(["task=ner", *sizes]).bilm.architecture()).save(folder, {})
    return folder


def test_other_weights_in_the_same_folder_make_another_run(name_of, tmp_path):
    folder = save_bilm(tmp_path / "one", seed=1)
    before = name_of(f"bilm.weights={folder}")
    shutil.copytree(folder, tmp_path / "copy")
    assert name_of(f"bilm.weights={tmp_path}/copy", "bilm.name=copy") == before
    save_bilm(folder, seed=2)
    assert name_of(f"bilm.weights={folder}") != before


def test_a_changed_code_version_makes_another_run(name_of, monkeypatch):
    before, random = name_of("elmo=none"), name_of("bilm.weights=random")
    monkeypatch.setattr(Architecture, "version", Architecture.version + 1)
    assert name_of("elmo=none") == before and name_of("bilm.weights=random") != random
    monkeypatch.setattr(NerSettings, "version", NerSettings.version + 1)
    assert name_of("elmo=none") != before


def test_one_arm_has_one_name():
    ner, snli = (run_settings([f"task={task}", "elmo=input"]) for task in ("ner", "snli"))
    assert identity(ner) == identity(run_settings(["task=ner"])) and ner.elmo.name == "paper"
    assert identity(snli) != identity(run_settings(["task=snli"])) and snli.elmo.name == "input"


def test_layers_computed_online_do_not_depend_on_the_dtype_of_the_cache(name_of):
    online = ["features=online", "bilm.weights=random"]
    assert name_of(*online, "cache_dtype=float16") == name_of(*online)


def test_a_run_whose_inputs_are_missing_has_a_name_too(name_of, tmp_path):
    files = ["data=files", f"data.dir={tmp_path}/nowhere"]
    words = ["words=glove", f"words.path={tmp_path}/nowhere"]
    assert len({name_of(), name_of(*files), name_of(*words), name_of(*files, *words)}) == 4


def test_a_digest_is_remembered_until_the_file_changes(tmp_path, monkeypatch):
    file, read = tmp_path / "large", []
    hash_file = memory.content_hash
    monkeypatch.setattr(memory, "content_hash", lambda path: read.append(path) or hash_file(path))
    file.write_bytes(b"one")
    old = time.time() - 60
    monkeypatch.setattr(memory, "SETTLED_SECONDS", -60)
    os.utime(file, (old, old))
    first = memory.content_digest([file], tmp_path / "digests")
    assert memory.content_digest([file], tmp_path / "digests") == first and len(read) == 1
    file.write_bytes(b"two")
    os.utime(file, (old, old))  # same size and time of modification
    assert memory.content_digest([file], tmp_path / "digests") != first and len(read) == 2
    [note] = (tmp_path / "digests").glob("*.json")
    note.write_text(note.read_text().replace(first[:4], "0000"))
    note.write_bytes(note.read_bytes()[:-5])
    assert memory.content_digest([file], tmp_path / "digests") != first and len(read) == 3


def test_a_file_that_was_just_written_is_not_remembered(tmp_path):
    (tmp_path / "fresh").write_bytes(b"one")
    memory.content_digest([tmp_path / "fresh"], tmp_path / "digests")
    assert not (tmp_path / "digests").exists()
