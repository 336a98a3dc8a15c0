"""Corpora made from small clones, written by hand in the forms of the real repositories."""

import json
from collections import Counter
from zipfile import ZipFile

import pytest

from elmo_bench.cli import main
from elmo_bench.data import open_corpora
from elmo_bench.data.manifest import SHIPPED, read_manifest
from elmo_bench.data.open_corpora import MAKERS, make
from tests.tasks.building import new_task

CORPORA = {corpus.name: corpus for corpus in read_manifest(SHIPPED).corpora}

SKELETON = """d 0 0 [WORD] NNS (TOP(S(NP*) - - (ARG0*)
d 0 1 [WORD] VBP (VP*)) bark bark.01 (V*)

d 1 0 [WORD] UH (TOP(INTJ*)) - -

d 2 0 [WORD] PRP (TOP(S(NP*) - - (ARG0*)
d 2 1 [WORD] VBP (VP*)) run run.02 (V*)
"""
TREEBANK = """# sent_id = 1
1-2\tDogs'll\t_
1\tDogs\tdog
2\tbark\tbark

1\tWow\twow

# sent_id = 3
1\tOh\toh

1\tThey\tthey
2\trun\trun
"""
DEPENDENCIES = """# speaker = Ann Lee
# text = She 'd met Bob
1\tShe\tshe\tPRON\tPRP
2\t'd\thave\tAUX\tVBD
3\tmet\tmeet\tVERB\tVBN
4\tBob's\tBob\tPROPN\tNNP

# text = Bob
1\tBob\tBob\tPROPN\tNNP
"""
COREFERENCE = (
    "# begin document x\n0\tShe\t(1(2)\n1\t'd\t_\n2\tmet\t_\n3\tBob's\t(3)1)\n4\tBob\t(3)\n"
)


@pytest.fixture
def clones(tmp_path):
    """A function that writes files into clones."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return tmp_path

    return write


def made(name, sources, **changes):
    return dict(make(CORPORA[name].model_copy(update=changes), sources))


def test_wnut_training_data_lose_the_tabs_of_blank_lines(clones):
    names = ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
    files = {f"emerging_entities_17/{name}": f"{name}\tO\n\t\nend\tB-x\n" for name in names}
    found = made("wnut17", clones(files))
    assert list(found) == [file.path for file in CORPORA["wnut17"].files]
    assert list(found.values()) == [f"{name}\tO\n\nend\tB-x\n" for name in names]


def test_the_last_premises_of_snli_dev_are_held_out(clones, monkeypatch):
    monkeypatch.setattr(open_corpora, "HELD_OUT_PREMISES", 2)
    rows = [("A .", "x"), ("A .", "y"), ("B .", "x"), ("C .", "x"), ("C .", "z")]
    columns = {
        "labels": "neutral\n" * 5,
        "s1": "".join(f"{first} \n" for first, _ in rows),
        "s2": "".join(f"{second} \n" for _, second in rows),
    }
    files = {
        f"e-SNLI/dataset/eSNLI/{name}.{split}": text
        for name, text in columns.items()
        for split in ("dev", "test")
    }
    found = made("snli", clones(files))
    train, dev, test = (list(map(json.loads, text.splitlines())) for text in found.values())
    assert train + dev == test
    assert [pair["sentence1"] for pair in dev] == ["B .", "C .", "C ."]
    assert train[0] == {"gold_label": "neutral", "sentence1": "A .", "sentence2": "x"}


def test_revised_pairs_keep_their_quotes(clones):
    path = "counterfactually-augmented-data/NLI/all_combined/train.tsv"
    rows = 'sentence1\tsentence2\tgold_label\n"Hi\tA "b" c\tneutral\n'
    [text] = made("cad_nli", clones({path: rows})).values()
    assert json.loads(text) == {"gold_label": "neutral", "sentence1": '"Hi', "sentence2": 'A "b" c'}


def test_new_wikipedia_is_split_by_article(clones, monkeypatch):
    monkeypatch.setattr(open_corpora, "TRAIN_ARTICLES", 2)
    text = json.dumps({"data": [{"title": title} for title in "dbca"]})
    folder = "squadshifts-website/datasets"
    files = {f"{folder}/new_wiki_v1.0.json": text, f"{folder}/reddit_v1.0.json": "{}"}
    found = made("squadshifts", clones(files))
    splits = json.loads(found["qa/squadshifts_new_wiki.splits.json"])
    assert splits == {"train": ["d", "b"], "dev": ["c", "a"]}
    assert found["qa/squadshifts_new_wiki_v1.0.json.gz"] == text
    assert {*found} == {file.path for file in CORPORA["squadshifts"].files}


def propbank(clones):
    files = {f"propbank-release/docs/evaluation/ewt.{s}.txt": "" for s in ("dev", "test")}
    files["propbank-release/docs/evaluation/ewt.train.txt"] = (
        "weblog/00/b.xml.conllu\nanswers/00/none.xml\nanswers/00/a.xml\n"
    )
    for genre, document in (("answers", "a"), ("weblog", "b")):
        name = f"{genre}/00/{document}"
        files[f"propbank-release/data/google/ewt/{name}.xml.gold_skel"] = SKELETON
        treebank = f"UD_English-EWT/not-to-release/sources/{genre}/{document}.xml.conllu"
        files[treebank] = TREEBANK
    return clones(files)


def test_propbank_gets_the_words_of_the_treebank(clones, tmp_path):
    left_out = {"train": ["weblog/0001:1"], "dev": [], "test": []}
    found = made("ewt-propbank", propbank(clones), left_out=left_out)
    assert list(found) == [file.path for file in CORPORA["ewt-propbank"].files]
    path = tmp_path / "train.gold_conll"
    path.write_text(found["srl/ewt-propbank.train.gold_conll.gz"], encoding="utf-8")
    assert "ewt/weblog/0001 0 1 run VBP (VP*)) run 02 - - * (V*) -\n" in path.read_text()
    examples = list(new_task("srl").read(path, "train", Counter()))
    assert [(example.id, example.segments[0]) for example in examples] == [
        ("ewt/answers/0000_0:0:1", ("Dogs", "bark")),
        ("ewt/answers/0000_0:2:1", ("They", "run")),
        ("ewt/weblog/0001_0:0:1", ("Dogs", "bark")),
        ("ewt/weblog/0001_0:1:1", ("They", "run")),
    ]


def test_ontogum_gets_sentences_tags_and_speakers_without_reddit(clones, tmp_path):
    names = ("GUM_bio_x", "GUM_reddit_y")
    listed = "".join(f"  * {name}\n" for name in names)
    files = {"gum/splits.md": f"# Splits\n\n## dev\n\n{listed}\n## test\n\n## train\n\n"}
    for name in names:
        files[f"gum/dep/{name}.conllu"] = DEPENDENCIES
        files[f"gum/coref/ontogum/conll/{name}.conll"] = COREFERENCE
    found = made("ontogum", clones(files))
    assert list(found) == [file.path for file in CORPORA["ontogum"].files]
    path = tmp_path / "dev.v4_gold_conll"
    path.write_text(found["coref/ontogum.dev.v4_gold_conll.gz"], encoding="utf-8")
    [example] = new_task("coref").read(path, "dev", Counter())
    assert example.segments == (("She", "'d", "met", "Bob's"), ("Bob",))
    assert example.target.speakers == ("Ann_Lee",) * 4 + ("-",)
    assert example.target.genre == "bio"
    assert example.target.clusters == (((0, 0),), ((0, 3),), ((3, 3), (4, 4)))


def test_coarsewsd_has_a_line_per_occurrence(clones):
    folder = "bert-disambiguation/data/CoarseWSD-20/bank"
    files = {f"{folder}/classes_map.txt": '{"0": "bank_river", "1": "bank_money"}'}
    for split in ("train", "test"):
        files[f"{folder}/{split}.data.txt"] = "1\ta bank  of clay\r\n0\tbank é\r\n"
        files[f"{folder}/{split}.gold.txt"] = "0\r\n1\r\n"
    found = made("coarsewsd20", clones(files))
    assert {*found} == {file.path for file in CORPORA["coarsewsd20"].files}
    for text in found.values():
        first, second = text.splitlines()
        tokens = ["a", "bank", "", "of", "clay"]
        row = {"lemma": "bank", "sense": "bank_river", "index": 1, "tokens": tokens}
        assert json.loads(first) == row
        assert "bank_money" in second and "é" in second


def test_files_that_are_copied(clones, tmp_path):
    corpora = tmp_path / "nltk_data/packages/corpora"
    corpora.mkdir(parents=True)
    with ZipFile(corpora / "conll2000.zip", "w") as packed:
        for split in ("train", "test"):
            packed.writestr(f"conll2000/{split}.txt", f"a DT B-NP\n{split}")
    files = {f"trees/{split}.txt": split for split in ("train", "dev", "test")}
    files["xquad/xquad.en.json"] = "{}\r\n"
    files["examples/word_language_model/data/wikitext-2/valid.txt"] = " \n = A = \n"
    clones(files)
    for name in ("conll2000", "sst", "xquad", "wikitext2"):
        assert {*made(name, tmp_path)} == {file.path for file in CORPORA[name].files}
    assert made("xquad", tmp_path) == {"qa/xquad.en.json": "{}\r\n"}
    assert made("conll2000", tmp_path)["pos/conll2000.test.txt"] == "a DT B-NP\ntest"
    assert made("sst", tmp_path)["sst/dev.txt"] == "dev"


def test_only_corpora_of_the_manifest_are_made():
    assert {*MAKERS} <= {*CORPORA}


def test_the_command_makes_what_is_missing_and_replaces_nothing(clones, tmp_path, capsys):
    sources = clones({"trees/train.txt": "new", "trees/dev.txt": "new", "trees/test.txt": "new"})
    folder = tmp_path / "corpora"
    words = ["data", "make", str(sources), str(folder), "--only", "sst"]
    assert main(words) == 1  # not the real trees
    assert "0 same, 3 differs, 0 missing" in capsys.readouterr().out
    (folder / "sst" / "dev.txt").write_text("mine")
    (folder / "sst" / "test.txt").unlink()
    assert main(words) == 1
    assert (folder / "sst" / "dev.txt").read_text() == "mine"
    assert (folder / "sst" / "test.txt").read_text() == "new"


def test_a_missing_clone_and_another_commit_are_reported_in_one_line(clones, tmp_path, capsys):
    folder = str(tmp_path / "corpora")
    assert main(["data", "make", str(tmp_path), folder, "--only", "qa"]) == 2
    problem = capsys.readouterr().err
    assert "new_wiki_v1.0.json: cannot be read" in problem and problem.count("\n") == 1
    sources = str(clones({"squadshifts-website/datasets/new_wiki_v1.0.json": "[]"}))
    assert main(["data", "make", sources, folder, "--only", "squadshifts"]) == 2
    problem = capsys.readouterr().err
    assert "not what squadshifts is made of" in problem and problem.count("\n") == 1
    assert main(["data", "make", sources, folder, "--only", "vectors"]) == 2
    assert "wnut17, sst" in capsys.readouterr().err
