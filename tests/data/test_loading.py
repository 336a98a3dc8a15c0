import gzip
from pathlib import Path

import pytest

from elmo_bench.config.compose import task_settings
from elmo_bench.config.locating import build_task
from elmo_bench.config.settings import FilesData, MiniData
from elmo_bench.data import loading
from elmo_bench.data.files import DataError
from elmo_bench.data.loading import load_split, split_files
from tests.conftest import shared
from tests.corpora import COREF, NER, TEXTS

WHOLE = {"train_limit": None, "train_fraction": 1.0}
OFFICIAL = {
    "ner": ["eng.train", "eng.testa", "eng.testb"],
    "sst5": ["trees/train.txt", "trees/dev.txt", "trees/test.txt"],
    "snli": ["snli_1.0_train.jsonl", "snli_1.0_dev.jsonl", "snli_1.0_test.jsonl"],
    "squad": ["train-v1.1.json", "dev-v1.1.json", "dev-v1.1.json"],
    "srl": ["x.train.gold_conll", "x.dev.gold_conll", "x.test.gold_conll"],
    "coref": ["train.english.v4_gold_conll", "dev.english.v4_gold_conll", "test.v4_gold_conll"],
}
ANNOTATIONS = "v4/data/{}/data/english/annotations/bc/x/00/x_0001.v4_gold_conll"


def files_data(**changes):
    nothing = dict.fromkeys(("dir", "train", "dev", "test"))
    return FilesData(kind="files", name="files", **{**nothing, **WHOLE, **changes})


def files_of(name, split, **data):
    return split_files(task_settings(name), files_data(**data), split, Path())


def load_data(name, data, split, cache):
    task = task_settings(name)
    return load_split(build_task(task.build), task, data, split, cache)


def load(name, split="train", **data):
    return load_data(name, files_data(**data), split, Path())


def write(path, text=NER):
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("name", sorted(OFFICIAL))
def test_official_names_are_found_in_a_folder(name, packed, tmp_path):
    for split, file in zip(("train", "dev", "test"), OFFICIAL[name], strict=True):
        path = write(tmp_path / (file + packed), TEXTS[name])
        assert files_of(name, split, dir=str(tmp_path)) == [path]


@pytest.mark.parametrize("name", sorted(OFFICIAL))
def test_every_task_loads_its_format(name, tmp_path):
    path = write(tmp_path / "file", TEXTS[name])
    examples, _ = load(name, train=str(path))
    assert examples


@pytest.mark.parametrize(
    ("split", "folder"), [("train", "train"), ("dev", "development"), ("test", "test")]
)
def test_the_folders_of_the_shared_task_are_searched(split, folder, tmp_path):
    english = ANNOTATIONS.format(folder)
    paths = [write(tmp_path / english, COREF)]
    paths.append(write(tmp_path / (english.replace("x_0001", "x_0002") + ".gz"), COREF))
    write(tmp_path / english.replace("english", "chinese"), COREF)
    write(tmp_path / english.replace("gold", "auto"), COREF)
    assert files_of("coref", split, dir=str(tmp_path)) == paths


def test_a_packed_file_beside_its_plain_copy_is_left(tmp_path):
    plain_path = write(tmp_path / "eng.train")
    write(tmp_path / "eng.train.gz")
    assert files_of("ner", "train", dir=str(tmp_path)) == [plain_path]


def test_named_files_beat_the_folder(tmp_path):
    write(tmp_path / "eng.train")
    named = [write(tmp_path / "a.txt"), write(tmp_path / "b.txt")]
    for value in (str(tmp_path / "?.txt"), [str(path) for path in named]):
        assert files_of("ner", "train", dir=str(tmp_path), train=value) == named


def test_home_is_understood(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    path = write(tmp_path / "corpus" / "eng.train")
    assert files_of("ner", "train", dir="~/corpus") == [path]
    assert files_of("ner", "train", train="~/corpus/eng.train") == [path]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({}, "data.dir=... or a file with data.train="),
        ({"dir": "/nowhere"}, "no such folder"),
        ({"dir": "."}, "no file here is named like eng.train or train.txt"),
        ({"train": "/nowhere/*.txt"}, r"no such file \(data.train\)"),
    ],
)
def test_what_is_missing_is_told_with_the_key_to_set(data, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=problem.replace("... or", "..., or")):
        files_of("ner", "train", **data)


def test_a_file_that_is_named_twice_is_an_error(tmp_path):
    path = str(write(tmp_path / "eng.train"))
    with pytest.raises(DataError, match=r"example eng\.train:3: two examples have this id"):
        load("ner", train=[path, path])


def test_a_split_of_which_nothing_is_left_is_an_error(tmp_path):
    pair = '{"gold_label": "-", "sentence1": "a", "sentence2": "b"}'
    path = write(tmp_path / "a.jsonl", pair)
    with pytest.raises(DataError, match=r"nothing was read: \{'pairs without a gold label': 1\}"):
        load("snli", train=str(path))


def many(tmp_path, count=50):
    return str(write(tmp_path / "many.txt", "".join(f"w{i} O\n\n" for i in range(count))))


def test_a_limit_takes_the_first_of_train_alone(tmp_path):
    path = many(tmp_path)
    everything, _ = load("ner", train=path)
    assert load("ner", train=path, train_limit=7)[0] == everything[:7]
    assert len(load("ner", "dev", dev=path, train_limit=7)[0]) == 50


def test_fractions_are_nested_in_order_and_of_the_right_size(tmp_path):
    path = many(tmp_path)
    larger: list = load("ner", train=path)[0]
    for fraction, size in ((0.5, 25), (0.1, 5), (0.001, 1)):
        smaller, _ = load("ner", train=path, train_fraction=fraction)
        assert len(smaller) == size
        assert smaller == [example for example in larger if example in smaller]
        larger = smaller


def test_fractions_are_no_prefix(tmp_path):
    path = many(tmp_path)
    half, _ = load("ner", train=path, train_fraction=0.5)
    assert half != load("ner", train=path, train_limit=25)[0]


@pytest.mark.parametrize(
    ("name", "folder", "count"),
    [("sst5", "sst", 1101), ("coref", "coref", 30)],
)
def test_real_folders_load(name, folder, count):
    assert len(load(name, "dev", dir=str(shared("data", folder)))[0]) == count


def test_two_corpora_in_one_folder_are_never_mixed(tmp_path):
    for corpus in ("a", "b"):
        (tmp_path / f"{corpus}.dev.conll").write_text("EU\tB-ORG\n")
    with pytest.raises(DataError, match=r"a\.dev\.conll, b\.dev\.conll"):
        load("ner", "dev", dir=str(tmp_path))


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    sizes = {"seed": 1, "train": 12, "dev": 6, "test": 6}
    documents = {"train_documents": 2, "dev_documents": 1, "test_documents": 1}
    text = {"corpus_tokens": 200, "heldout_tokens": 200}
    data = MiniData(kind="mini", name="mini", **sizes, **documents, **text, **WHOLE)
    return data, tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("split", ["train", "dev", "test"])
@pytest.mark.parametrize("name", sorted(OFFICIAL))
def test_the_mini_benchmark_loads(name, split, mini):
    data, cache = mini
    examples, _ = load_data(name, data, split, cache)
    assert examples


@pytest.fixture
def seventh(mini, tmp_path, monkeypatch):
    """A function that finds the files of a task that the benchmark does not have."""
    monkeypatch.setattr(loading, "TASKS", tmp_path)
    data, cache = mini
    return lambda: split_files(task_settings("ner").but(name="pos"), data, "dev", cache)


def test_a_task_beyond_the_mini_benchmark_brings_a_sample(seventh, tmp_path):
    path = write(tmp_path / "pos" / "sample" / "dev.txt")
    assert seventh() == [path]


def test_a_task_with_neither_is_told_where_a_sample_belongs(seventh, tmp_path):
    with pytest.raises(DataError, match=rf"{tmp_path}/pos/sample: .* put sample files there"):
        seventh()


def test_a_cut_of_the_mini_benchmark_generates_nothing_new(mini):
    data, cache = mini
    task = task_settings("ner")
    everything = split_files(task, data, "train", cache)
    assert split_files(task, data.but(train_limit=3), "train", cache) == everything
