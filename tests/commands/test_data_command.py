import gzip
import hashlib
import json
import subprocess
import sys

import pytest

from elmo_bench.cli import main
from elmo_bench.config.compose import compose, options
from elmo_bench.data.manifest import SHIPPED, read_manifest
from tests.conftest import PROJECT, shared
from tests.corpora import COREF, NER, SST5

NOVEL = "Call me Ishmael .\n\nSome years ago .\n"
VECTORS = "the 0.1 0.2 0.3\ncat 0.4 0.5 0.6\n"


def corpus(name, files, reader=None):
    facts = {"name": name, "about": "made up", "license": "CC0", "made": "by hand"}
    sources = [{"url": f"https://example.org/{name}"}]
    return {**facts, "sources": sources, "reader": reader, "files": files}


CONTENT = {
    "ner/a.train.conll": NER,
    "ner/b.dev.conll.gz": NER + "\nMore NN I-NP O\n",
    "coref/c.test.v4_gold_conll": COREF,
    "sst/trees.txt": SST5,
    "lm/novel.txt.gz": NOVEL,
    "vectors/glove.txt": VECTORS,
    "weights/model.bin": "\0\1",
}


@pytest.fixture
def folder(tmp_path):
    """A folder of seven small files, and a manifest without sizes, hashes and counts."""
    corpora = [
        corpus("entities", [{"path": p} for p in CONTENT if p.startswith("ner")], "ner"),
        corpus("gum", [{"path": "coref/c.test.v4_gold_conll", "split": "test"}], "coref"),
        corpus("trees", [{"path": "sst/trees.txt", "split": "train"}], "sst5"),
        corpus("novel", [{"path": "lm/novel.txt.gz"}], "text"),
        corpus("glove", [{"path": "vectors/glove.txt"}], "vectors"),
        corpus("weights", [{"path": "weights/model.bin"}]),
    ]
    write(tmp_path / "data.json", json.dumps({"version": 1, "corpora": corpora}))
    for name, text in CONTENT.items():
        write(tmp_path / name, text)
    return tmp_path


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def data(action, folder, *flags):
    return main(["data", action, str(folder), "--manifest", str(folder / "data.json"), *flags])


@pytest.fixture
def measured(folder, capsys):
    """The same folder, with a manifest that describes it."""
    assert data("update", folder) == 0
    capsys.readouterr()
    return folder


def test_update_measures_the_content_and_keeps_the_facts(folder):
    before = {c.name: c for c in read_manifest(folder / "data.json").corpora}
    assert data("update", folder) == 0
    after = {c.name: c for c in read_manifest(folder / "data.json").corpora}
    files = {file.path: file for c in after.values() for file in c.files}
    for path, text in CONTENT.items():
        assert files[path].bytes == len(text.encode())
        assert files[path].sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert {path: file.counts for path, file in files.items()} == {
        "ner/a.train.conll": {"examples": 2, "tokens": 6},
        "ner/b.dev.conll.gz": {"examples": 3, "tokens": 7},
        "coref/c.test.v4_gold_conll": {"examples": 2, "tokens": 8},
        "sst/trees.txt": {"examples": 3, "tokens": 15},  # phrases of at least four words
        "lm/novel.txt.gz": {"sentences": 2, "tokens": 8},
        "vectors/glove.txt": {"words": 2, "dimensions": 3},
        "weights/model.bin": {},
    }
    for name, corpus in after.items():
        assert corpus.model_dump(exclude={"files"}) == before[name].model_dump(exclude={"files"})


def test_update_refuses_a_missing_file_and_leaves_the_manifest(folder, capsys):
    before = (folder / "data.json").read_text()
    (folder / "lm/novel.txt.gz").unlink()
    assert data("update", folder) == 2
    assert "novel.txt.gz: is missing" in capsys.readouterr().err
    assert (folder / "data.json").read_text() == before
    assert data("update", folder, "--only", "ner") == 0


def test_a_folder_as_in_the_manifest_is_the_same(measured, capsys):
    assert data("check", measured) == 0
    printed = capsys.readouterr().out
    assert "7 same, 0 differs, 0 missing" in printed
    assert "2 sentences, 8 tokens" in printed and "2 bytes" in printed


def test_a_file_is_the_same_packed_or_not(measured, capsys):
    for path, packed in (
        ("lm/novel.txt", "lm/novel.txt.gz"),
        ("sst/trees.txt.gz", "sst/trees.txt"),
    ):
        write(measured / path, CONTENT[packed])
        (measured / packed).unlink()
    assert data("check", measured) == 0
    assert "7 same" in capsys.readouterr().out


def test_what_is_missing_is_no_fault(measured, capsys):
    (measured / "weights/model.bin").unlink()
    assert data("check", measured) == 0
    assert "6 same, 0 differs, 1 missing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("sst/trees.txt", SST5 + "(2 More)\n", f"{len(SST5) + 9} bytes, not {len(SST5)}"),
        ("sst/trees.txt", SST5.replace("fun", "joy"), "other content"),
        ("lm/novel.txt.gz", NOVEL.replace("Ishmael", "Ahab"), "33 bytes, not 36"),
    ],
)
def test_a_changed_file_differs(measured, capsys, path, text, said):
    write(measured / path, text)
    assert data("check", measured) == 1
    printed = capsys.readouterr().out
    assert "6 same, 1 differs, 0 missing" in printed and said in printed


def test_a_truncated_file_differs(measured, capsys):
    packed = measured / "lm/novel.txt.gz"
    packed.write_bytes(packed.read_bytes()[:-6])
    assert data("check", measured) == 1
    assert "damaged" in capsys.readouterr().out


def test_only_some_folders_or_corpora(measured, capsys):
    write(measured / "sst/trees.txt", "")
    assert data("check", measured, "--only", "ner,novel") == 0
    printed = capsys.readouterr().out
    assert "3 same, 0 differs, 0 missing" in printed and "trees" not in printed
    assert data("check", measured, "--only", "sst") == 1
    assert data("check", measured, "--only", "ner,nowhere") == 2
    problem = capsys.readouterr().err
    assert "named nowhere" in problem and "entities, glove, gum" in problem


def test_a_folder_without_any_of_the_files_is_refused(measured, tmp_path, capsys):
    empty = tmp_path / "empty"
    assert main(["data", "check", str(empty)]) == 2
    assert "none of the" in capsys.readouterr().err


def test_a_damaged_manifest_is_reported_in_one_line(measured, capsys):
    text = (measured / "data.json").read_text()
    (measured / "data.json").write_text(text.replace('"license"', '"licence"', 1))
    assert data("check", measured) == 2
    problem = capsys.readouterr().err
    assert "corpora.0.licen" in problem and problem.count("\n") == 1


def test_the_shipped_manifest_fits_80_columns(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    manifest = read_manifest(SHIPPED)
    write(tmp_path / "ner" / "wnut17.dev.conll", "other")
    assert main(["data", "check", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    files = [file for corpus in manifest.corpora for file in corpus.files]
    assert f"0 same, 1 differs, {len(files) - 1} missing" in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert all(file.path.partition("/")[2] in printed for file in files)


def test_checking_needs_no_torch(measured):
    code = (
        "import sys; from elmo_bench.cli import main\n"
        f"words = ['data', 'check', '{measured}', '--manifest', '{measured}/data.json']\n"
        "assert main(words) == 0 and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize("name", options("experiment/open"))
def test_the_manifest_has_every_file_of_the_open_experiments(name):
    config = compose("run", [f"experiment=open/{name}"])
    used = {
        file.path: file
        for corpus in read_manifest(SHIPPED).corpora
        if f"experiment=open/{name}" in corpus.used_by
        for file in corpus.files
    }
    named = [config.data.get(split) for split in ("train", "dev", "test")]
    named = [
        path for value in named if value for path in ([value] if isinstance(value, str) else value)
    ]
    named += [*config.words.path, *filter(None, [config.task.build.get("articles")])]
    assert {path.removeprefix("data/") for path in named} <= {*used}
    if config.data.dir:
        splits = [f.split for p, f in used.items() if f"data/{p}".startswith(config.data.dir)]
        assert splits == ["train", "dev", "test"]


@pytest.mark.parametrize("name", ["ner", "sst5", "snli", "srl", "coref"])
def test_the_recorded_runs_had_as_many_examples(name):
    corpora = [c for c in read_manifest(SHIPPED).corpora if f"experiment=open/{name}" in c.used_by]
    counted = dict.fromkeys(("train", "dev", "test"), 0)
    for file in (file for corpus in corpora for file in corpus.files if file.split):
        counted[file.split] += file.counts["examples"]
    config = compose("run", [f"experiment=open/{name}"])
    paths = PROJECT.glob(f"results/**/runs/{config.task.name}-*.json")
    records = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    sizes = [
        record["sizes"]
        for record in records
        if record["data"] == config.data.name
        and record["config"]["data"]["train_fraction"] == 1  # Figure 1 has less
    ]
    assert sizes
    for size in sizes:
        assert {split: size[f"{split} examples"] for split in counted} == counted


def test_real_corpora_are_those_of_the_manifest(capsys):
    folder = shared("data")
    assert main(["data", "check", str(folder), "--only", "ner,sst,nli,qa,srl,coref"]) == 0
    assert " 0 differs, 0 missing" in capsys.readouterr().out
