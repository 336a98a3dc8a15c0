"""The written files: valid formats, sizes, the same bytes from every process."""

import filecmp
import os
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest
import yaml

from elmo_bench.mini import files, statistics
from elmo_bench.mini.files import ensure_mini
from elmo_bench.mini.settings import MiniSettings
from elmo_bench.records.checksums import CHECKSUMS
from tests.conftest import PROJECT
from tests.mini.conftest import SETTINGS, write_elsewhere
from tests.mini.reading import conll_documents

SMALL = MiniSettings(
    train=12, dev=6, test=6, train_documents=2, dev_documents=1, test_documents=1,
    corpus_tokens=600, heldout_tokens=200,
)  # fmt: skip
SPLITS = ("train", "dev", "test")


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    for hash_seed in ("1", "2"):
        write_elsewhere(tmp_path / hash_seed, SMALL, hash_seed)
    written = sorted(
        path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*") if path.is_file()
    )
    assert len(written) == 22
    same, _, _ = filecmp.cmpfiles(tmp_path / "1", tmp_path / "2", map(str, written), shallow=False)
    assert len(same) == len(written)


def test_another_seed_produces_another_world(tmp_path: Path) -> None:
    write_elsewhere(tmp_path / "1", SMALL)
    write_elsewhere(tmp_path / "2", replace(SMALL, seed=2))
    texts = [(tmp_path / seed / "ner/train.txt").read_text() for seed in ("1", "2")]
    assert texts[0] != texts[1]


def test_the_yaml_file_has_the_settings_and_their_defaults() -> None:
    written = yaml.safe_load((PROJECT / "conf/data/mini.yaml").read_text())
    names = {field.name for field in fields(MiniSettings)}
    assert written["name"] == "mini"
    assert {key: value for key, value in written.items() if key in names} == asdict(MiniSettings())


def test_every_split_has_the_configured_size(mini: Path) -> None:
    for split in SPLITS:
        count = getattr(SETTINGS, split)
        assert sum(1 for _ in statistics.ner_sentences(mini / f"ner/{split}.txt")) == count
        assert len((mini / f"sst5/{split}.txt").read_text().splitlines()) == count
        assert len(statistics.json_lines(mini / f"snli/{split}.jsonl")) == count
        assert len(statistics.squad_questions(mini, split)) == count
        sentences = [
            line for rows in conll_documents(mini / f"srl/{split}.gold_conll") for line in rows
        ].count("")
        assert sentences == count
        documents = conll_documents(mini / f"coref/{split}.v4_gold_conll")
        assert sum(1 for _ in documents) == getattr(SETTINGS, f"{split}_documents")


def test_the_corpus_has_the_configured_size_and_sentences_of_natural_length(mini: Path) -> None:
    sentences, tokens, words = statistics.corpus_counts(mini / "corpus/train.txt")
    assert SETTINGS.corpus_tokens <= tokens < SETTINGS.corpus_tokens + 100
    assert 9 < tokens / sentences < 20
    assert words > 3000


def test_every_answer_is_in_its_paragraph_at_the_given_offset(mini: Path) -> None:
    for split in SPLITS:
        for context, question in statistics.squad_questions(mini, split):
            for answer in question["answers"]:
                start = answer["answer_start"]
                assert context[start : start + len(answer["text"])] == answer["text"] != ""


def test_answers_begin_and_end_at_word_boundaries(mini: Path) -> None:
    for context, question in statistics.squad_questions(mini, "test"):
        for answer in question["answers"]:
            start, end = answer["answer_start"], answer["answer_start"] + len(answer["text"])
            assert start == 0 or not context[start - 1].isalnum()
            assert not context[end : end + 1].isalnum()


def test_question_ids_are_unique(mini: Path) -> None:
    names = [question["id"] for _, question in statistics.squad_questions(mini, "train")]
    assert len(set(names)) == len(names)


def test_trees_are_binary_and_balanced(mini: Path) -> None:
    for line in (mini / "sst5/train.txt").read_text().splitlines():
        tree = re.sub(r"\([0-4] [^\s()]+\)", "x", line)
        while tree != "x":
            smaller = re.sub(r"\([0-4] x x\)", "x", tree)
            assert smaller != tree, line
            tree = smaller


def test_binary_parses_contain_the_words_of_their_sentence(mini: Path) -> None:
    for pair in statistics.json_lines(mini / "snli/test.jsonl"):
        words = str(pair["sentence1_binary_parse"]).replace("(", "").replace(")", "").split()
        assert "".join(words) == str(pair["sentence1"]).replace(" ", "")


def test_conll_2012_columns_are_complete_and_their_brackets_close(mini: Path) -> None:
    for rows in conll_documents(mini / "srl/dev.gold_conll"):
        for sentence in "\n".join(rows).strip().split("\n\n"):
            columns = list(zip(*(line.split() for line in sentence.splitlines()), strict=True))
            assert [int(index) for index in columns[2]] == list(range(len(columns[2])))
            predicates = sum(frameset != "-" for frameset in columns[7])
            assert len(columns) == 12 + predicates and predicates > 0
            for column in (columns[5], *columns[10:-1]):
                joined = "".join(column)
                assert joined.count("(") == joined.count(")")
            assert all(sum("(V*" in cell for cell in column) == 1 for column in columns[11:-1])


def test_coreference_brackets_close_within_their_sentence(mini: Path) -> None:
    for rows in conll_documents(mini / "coref/train.v4_gold_conll"):
        for sentence in "\n".join(rows).strip().split("\n\n"):
            cells = [cell for line in sentence.splitlines() for cell in line.split()[-1].split("|")]
            opened = sorted(cell.strip("()") for cell in cells if cell.startswith("("))
            assert opened == sorted(cell.strip("()") for cell in cells if cell.endswith(")"))


def test_every_chain_has_at_least_two_mentions(mini: Path) -> None:
    for rows in conll_documents(mini / "coref/test.v4_gold_conll"):
        cells = [cell for line in rows if line for cell in line.split()[-1].split("|")]
        starts = [cell.strip("()") for cell in cells if cell.startswith("(")]
        assert all(starts.count(chain) > 1 for chain in starts)


def test_entities_are_written_in_iob1(mini: Path) -> None:
    lines = (mini / "ner/train.txt").read_text().splitlines()
    assert lines[0] == "-DOCSTART- -X- -X- O"
    previous = "O"
    for line in lines:
        tag = line.split()[3] if line else "O"
        assert re.fullmatch(r"O|[IB]-(PER|LOC|ORG|MISC)", tag)
        assert tag[0] != "B" or previous[2:] == tag[2:]
        previous = tag


def test_a_sense_points_at_its_word(mini: Path) -> None:
    for row in statistics.json_lines(mini / "wsd/test.jsonl"):
        tokens = row["tokens"]
        assert isinstance(tokens, list) and str(row["sense"]).startswith(f"{row['lemma']}.")
        assert tokens[row["index"]][0].lower() == str(row["lemma"])[0]


def test_ensure_writes_once_and_then_returns_the_folder(tmp_path: Path) -> None:
    folder = ensure_mini(tmp_path, SMALL)
    stamp = (folder / "ner/train.txt").stat().st_mtime_ns
    assert ensure_mini(tmp_path, SMALL) == folder
    assert (folder / "ner/train.txt").stat().st_mtime_ns == stamp


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick generator in place of the real one."""

    def write_two_files(directory: Path, settings: MiniSettings) -> None:
        for name in ("ner/dev.txt", "corpus/train.txt"):
            (directory / name).parent.mkdir()
            (directory / name).write_text(f"the text of {name}\n")

    monkeypatch.setattr(files, "write_mini", write_two_files)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.usefixtures("generator")
@pytest.mark.parametrize("name", ["ner/dev.txt", "corpus/train.txt", CHECKSUMS])
@pytest.mark.parametrize("damage", [flip, truncate, Path.unlink])
def test_a_damaged_file_is_noticed_and_all_are_written_again(
    name: str,
    damage: Callable[[Path], None],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = ensure_mini(tmp_path, SMALL)
    content = (folder / name).read_bytes()
    damage(folder / name)
    assert ensure_mini(tmp_path, SMALL) == folder
    assert (folder / name).read_bytes() == content
    [line] = caplog.messages
    assert line.startswith(f"generating the mini benchmark again: {folder}")
    assert name in line or name == CHECKSUMS


@pytest.mark.usefixtures("generator")
def test_an_undamaged_folder_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = ensure_mini(tmp_path, SMALL)
    stamp = (folder / "ner/dev.txt").stat().st_mtime_ns
    assert ensure_mini(tmp_path, SMALL) == folder
    assert (folder / "ner/dev.txt").stat().st_mtime_ns == stamp
    assert caplog.messages == []


@pytest.mark.usefixtures("generator")
def test_a_folder_that_was_removed_is_written_again(tmp_path: Path) -> None:
    shutil.rmtree(ensure_mini(tmp_path, SMALL))
    assert (ensure_mini(tmp_path, SMALL) / "ner/dev.txt").exists()


def test_ensure_leaves_nothing_behind_when_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(directory: Path, settings: MiniSettings) -> None:
        (directory / "ner").mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "write_mini", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ensure_mini(tmp_path, SMALL)
    assert [path for path in tmp_path.iterdir() if path.suffix != ".lock"] == []


def test_concurrent_calls_return_one_folder(tmp_path: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        folders = list(pool.map(lambda _: ensure_mini(tmp_path, SMALL), range(3)))
    assert len(set(folders)) == 1
    assert [path for path in tmp_path.iterdir() if path.suffix != ".lock"] == folders[:1]
