"""Small files that ask for more memory or time than there is are refused by stated limits."""

import gzip
import json
import resource
import time
from collections import Counter

import h5py
import pytest
import yaml

from elmo_bench import BiLm
from elmo_bench.analysis.senses import read_senses
from elmo_bench.bilm.official import read_arrays, read_options
from elmo_bench.data import files
from elmo_bench.data.files import numbered_lines, read_json
from elmo_bench.errors import UserError
from elmo_bench.records import reading
from elmo_bench.records.predictions import redact_text
from tests.bilm.official_files import OPTIONS
from tests.corpora import READERS
from tests.damaged.kinds import _bilm, _senses

GIGABYTE = 1 << 30


@pytest.fixture(autouse=True)
def little_memory_and_time():
    """A gigabyte more than the process has already, and a few seconds."""
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + GIGABYTE, before[1]))
    start = time.monotonic()
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)
    assert time.monotonic() - start < 20


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("lstm", "num_layers", 10**9),
        ("lstm", "num_layers", 100),
        ("lstm", "hidden_dim", 10**6),
        ("lstm", "hidden_dim", 2**70),
        ("encoder", "max_chars", 2 * 10**9),
        ("encoder", "char_dim", 10**6),
        ("encoder", "num_highways", 100),
        ("encoder", "filters", [[1, 10**6]]),
        ("encoder", "filters", [[1, 10**12]]),
    ],
)
def test_a_bilm_that_its_weights_cannot_fill_is_refused(section, key, value, tmp_path):
    _bilm(tmp_path)
    path = tmp_path / "config.yaml"
    values = yaml.safe_load(path.read_text())
    values[section][key] = value
    path.write_text(yaml.dump(values))
    with pytest.raises(UserError):
        BiLm.load(tmp_path)


def test_aliases_in_a_config_are_refused(tmp_path):
    _bilm(tmp_path)
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    (tmp_path / "config.yaml").write_text("\n".join(lines))
    with pytest.raises(UserError, match="aliases"):
        BiLm.load(tmp_path)


def test_official_weights_of_nothing_but_zeros_are_not_unpacked(tmp_path):
    options = json.loads(json.dumps(OPTIONS))
    options["lstm"]["dim"] = 10**6
    (tmp_path / "options.json").write_text(json.dumps(options))
    weights = tmp_path / "w.hdf5"
    with h5py.File(weights, "w") as file:  # a dataset that was never written takes no space
        file.create_dataset("char_embed", (261, 4), dtype="f4")
    with pytest.raises(UserError, match="the options imply"):
        read_arrays(weights, read_options(tmp_path / "options.json"))


def test_a_packed_file_is_unpacked_up_to_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_LINE", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(b"x" * (1 << 22)), mtime=0))
    with pytest.raises(UserError, match="a line of more than"):
        list(numbered_lines(path))


def test_a_packed_file_of_short_lines_is_refused_for_its_ratio(tmp_path, monkeypatch):
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n" * (1 << 22)))
    monkeypatch.setattr(files, "max", lambda *numbers: min(numbers), raising=False)
    with pytest.raises(UserError, match="200 times its size"):
        list(numbered_lines(path))


def test_json_is_read_up_to_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_JSON", 1000)
    (tmp_path / "a.json").write_text("[\n" + "1,\n" * 1000 + "1]")
    with pytest.raises(UserError, match="the limit of JSON"):
        read_json(tmp_path / "a.json")


def test_predictions_are_unpacked_up_to_a_limit(tmp_path):
    path = tmp_path / "run.predictions.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(1 + reading.MAX_BYTES // (1 << 24)):
            file.write(bytes(1 << 24))
    with pytest.raises(UserError, match=r"more than 268,435,456 bytes|cannot be used"):
        redact_text(path)


def test_entities_of_xml_do_not_multiply(tmp_path):
    _senses(tmp_path)
    entities = '<!ENTITY a0 "xxxxxxxxxx">' + "".join(
        f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)
    )
    path = tmp_path / "a.data.xml"
    text = path.read_text().replace("<corpus", f"<!DOCTYPE corpus [{entities}]><corpus", 1)
    path.write_text(text.replace(">bank<", ">&a11;<"))
    with pytest.raises(UserError, match="XML"):
        read_senses(path)


@pytest.mark.parametrize("task", ["sst5", "snli", "squad", "coref", "srl", "ner"])
def test_deeply_nested_text_is_refused_or_read(task, tmp_path):
    path = tmp_path / "file"
    for text in ("(2 " * 100_000 + "x" + ")" * 100_000, "[" * 100_000, '{"a":' * 100_000):
        path.write_text(text)
        with pytest.raises(UserError):
            list(READERS[task](path, Counter()))


def test_a_deep_tree_within_the_limit_is_read(tmp_path):
    path = tmp_path / "file"
    path.write_text("(2 (3 x) " * 900 + "(2 y)" + ")" * 900)
    assert len(list(READERS["sst5"](path, Counter()))) == 902
