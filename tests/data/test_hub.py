import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import datasets
import pytest
from datasets import ClassLabel, Dataset, Features, List, Value

from elmo_bench.config.compose import run_settings, task_settings
from elmo_bench.config.errors import ConfigError
from elmo_bench.config.locating import build_task
from elmo_bench.config.settings import HubData
from elmo_bench.data.files import DataError
from elmo_bench.data.hub import is_reachable, load_rows
from elmo_bench.data.loading import load_split
from tests.conftest import PROJECT

TEXT = Value("string")
TAGS = ClassLabel(names=["O", "B-PER", "I-PER", "B-ORG", "I-ORG"])
POS = ClassLabel(names=["NN", "VB"])
LABEL = ClassLabel(names=["entailment", "neutral", "contradiction"])
SENTENCE = {
    "part_id": Value("int32"),
    "words": List(TEXT),
    "pos_tags": List(POS),
    "speaker": TEXT,
    "srl_frames": List({"verb": TEXT, "frames": List(TEXT)}),
    "coref_spans": List(List(Value("int32"))),
}
ONTONOTES = (
    {"document_id": TEXT, "sentences": List(SENTENCE)},
    {
        "document_id": "nw/x",
        "sentences": [
            {
                "part_id": 0,
                "words": ["dogs", "bark"],
                "pos_tags": [0, 1],
                "speaker": None,
                "srl_frames": [{"verb": "bark", "frames": ["B-ARG0", "B-V"]}],
                "coref_spans": [[3, 0, 0]],
            }
        ],
    },
)
# Schemas of the datasets named in conf/task, each with one row.
ROWS = {
    "ner": (
        {"id": TEXT, "tokens": List(TEXT), "ner_tags": List(TAGS)},
        {"id": "0", "tokens": ["Ann", "Lee", "left"], "ner_tags": [1, 2, 0]},
    ),
    "sst5": (
        {"text": TEXT, "label": Value("int64"), "label_text": TEXT},
        {"text": "a fine film", "label": 4, "label_text": "very positive"},
    ),
    "snli": (
        {"premise": TEXT, "hypothesis": TEXT, "label": LABEL},
        {"premise": "A man runs.", "hypothesis": "He doesn't.", "label": 2},
    ),
    "squad": (
        {
            "id": TEXT,
            "title": TEXT,
            "context": TEXT,
            "question": TEXT,
            "answers": {"text": List(TEXT), "answer_start": List(Value("int32"))},
        },
        {
            "id": "q",
            "title": "t",
            "context": "A cat.",
            "question": "Who?",
            "answers": {"text": ["cat"], "answer_start": [2]},
        },
    ),
    "srl": ONTONOTES,
    "coref": ONTONOTES,
}
GOLD = {
    "ner": ("B-PER", "I-PER", "O"),
    "sst5": 4,
    "snli": "contradiction",
    "squad": ((1, 1),),
    "srl": ((0, 0, "ARG0"), (1, 1, "V")),
    "coref": (((0, 0),),),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return tmp_path / "dataset"


def save(folder, name, rows=None):
    schema, row = ROWS[name]
    folder.mkdir()
    for split in ("train", "validation", "test"):
        table = Dataset.from_list(rows or [row], features=Features(schema))
        table.to_parquet(folder / f"{split}.parquet")


def load(name, identifier):
    task = task_settings(name)
    task = task.but(hub=task.hub.but(id=str(identifier), config=None))
    data = HubData(kind="hub", name="hub", train_limit=None, train_fraction=1.0)
    return load_split(build_task(task.build), task, data, "dev", Path())


@pytest.mark.parametrize("name", sorted(ROWS))
def test_parquet_of_the_same_schema_gives_examples(name, folder):
    save(folder, name)
    [example], _ = load(name, folder)
    field = {"squad": "spans", "srl": "arguments", "coref": "clusters"}.get(name)
    assert (getattr(example.target, field) if field else example.target) == GOLD[name]


def test_a_class_label_of_minus_one_means_no_label(folder):
    pair = {"premise": "A man.", "hypothesis": "A cat."}
    save(folder, "snli", [pair | {"label": 0}, pair | {"label": -1}])
    examples, skipped = load("snli", folder)
    assert (len(examples), skipped) == (1, {"pairs without a gold label": 1})


def test_rows_with_a_different_schema_are_an_error(folder):
    save(folder, "sst5")
    with pytest.raises(DataError, match="its rows are not as expected"):
        load("squad", folder)


def test_a_missing_split_is_an_error(folder):
    save(folder, "ner")
    (folder / "validation.parquet").unlink()
    with pytest.raises(DataError, match=r"cannot be loaded .*data=files"):
        load("ner", folder)


ON_THE_HUB = [name for name in sorted(ROWS) if task_settings(name).hub.id]


@pytest.mark.parametrize("name", ON_THE_HUB)
def test_being_offline_is_reported_with_the_alternative(name):
    with pytest.raises(DataError, match=r"cannot be reached .*data=files"):
        load(name, task_settings(name).hub.id)


@pytest.mark.parametrize("name", sorted(set(ROWS) - set(ON_THE_HUB)))
def test_a_task_without_a_readable_dataset_on_the_hub_is_refused(name):
    with pytest.raises(ConfigError, match=rf"the Hub has no dataset of task={name} .*data=files"):
        run_settings([f"task={name}", "data=hub"])
    settings = run_settings([f"task={name}", "data=hub", "task.hub.id=somebody/ontonotes"])
    assert settings.task.hub.id == "somebody/ontonotes"


def in_a_new_process(code, **environment):
    environment = {"PATH": "", "HOME": "/nonexistent", "PYTHONPATH": str(PROJECT)} | environment
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("endpoint", ["https://hub.invalid", "http://127.0.0.1:9"])
def test_without_a_network_loading_fails_within_a_second(endpoint, monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    begun = time.monotonic()
    with pytest.raises(DataError, match="data=files"):
        list(load_rows("nobody/nothing", None, "main", "train"))
    assert time.monotonic() - begun < 1


def test_a_server_that_never_answers_times_out_within_a_second(monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE")
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"https://127.0.0.1:{server.getsockname()[1]}")
        begun = time.monotonic()
        assert not is_reachable()
        assert time.monotonic() - begun < 1


def test_a_proxy_that_accepts_connections_is_enough(monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE")
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{server.getsockname()[1]}")
        assert is_reachable()


@pytest.mark.parametrize(("offline", "reachable"), [("1", False), ("true", False), ("0", True)])
def test_the_environment_variable_is_respected(offline, reachable, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", offline)
    assert is_reachable() is reachable


def test_failing_offline_does_not_import_datasets():
    code = (
        "import sys\nfrom elmo_bench.data.hub import load_rows\n"
        "try: list(load_rows('a/b', None, 'main', 'train'))\n"
        "except ValueError: print('datasets' in sys.modules)"
    )
    assert in_a_new_process(code, HF_HUB_OFFLINE="1").stdout == "False\n"


def test_a_cached_dataset_loads_offline(tmp_path):
    cache = tmp_path / "cache"
    table = tmp_path / "train.parquet"
    Dataset.from_list([{"text": "hello"}]).to_parquet(table)
    datasets.load_dataset("parquet", data_files=str(table), cache_dir=str(cache))
    [built] = cache.glob("parquet/*/*/*/dataset_info.json")
    home = cache / "a___b" / "default" / "0.0.0" / built.parent.name
    home.parent.mkdir(parents=True)
    os.rename(built.parent, home)
    os.rename(home / "parquet-train.arrow", home / "b-train.arrow")
    code = (
        "from elmo_bench.data.hub import load_rows\n"
        "print(list(load_rows('a/b', None, 'main', 'train')))"
    )
    ended = in_a_new_process(code, HF_DATASETS_CACHE=str(cache), HF_HUB_OFFLINE="1")
    assert ended.stdout.strip() == "[{'text': 'hello'}]", ended.stderr
