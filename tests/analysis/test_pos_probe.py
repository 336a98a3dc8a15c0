import numpy as np
import pytest
import torch

from elmo_bench.analysis import pos_probe
from elmo_bench.analysis.pos_probe import (
    Probe,
    Tags,
    Training,
    frequent_tags,
    gather,
    probe_pos,
)
from elmo_bench.analysis.pos_study import study_pos
from elmo_bench.analysis.tagged import Columns, Tagged, cut_dev, read_tagged
from elmo_bench.cli import main
from elmo_bench.data.files import DataError
from elmo_bench.records.analysis import read_analyses
from tests.conftest import shared

ROWS = [("The", "DT"), ("dog", "NN"), ("barks", "VBZ")]


def conll(sentences):
    lines = ["#begin document (toy); part 000"]
    for sentence in sentences:
        for index, (word, tag) in enumerate(sentence):
            lines.append(f"toy 0 {index} {word} {tag} * - - - - * -")
        lines.append("")
    return "\n".join([*lines, "#end document", ""])


@pytest.fixture
def files(tmp_path):
    splits = {
        "train": [ROWS, [("A", "DT"), ("cat", "NN"), ("barks", "NN"), ("dog", "NN")]],
        "dev": [ROWS],
        "test": [[("The", "DT"), ("cow", "NN"), ("barks", "VBZ")]],
    }
    for split, sentences in splits.items():
        (tmp_path / f"toy.{split}.conll").write_text(conll(sentences), encoding="utf-8")
    return {split: tmp_path / f"toy.{split}.conll" for split in splits}


def test_words_and_tags_are_read_from_their_columns(files):
    [sentence] = read_tagged(files["dev"])
    assert sentence == Tagged(("The", "dog", "barks"), ("DT", "NN", "VBZ"))


def test_a_file_without_parts_of_speech_is_reported(tmp_path):
    path = tmp_path / "bare.conll"
    path.write_text(conll([[("The", "-"), ("dog", "-")]]), encoding="utf-8")
    with pytest.raises(DataError, match="parts of speech"):
        read_tagged(path)


COLUMNS = """\
-DOCSTART- -X- O

He PRP B-NP
laughed VBD B-VP

# # B-NP
3 CD I-NP
"""


def test_plain_columns_are_read_and_can_be_chosen(tmp_path):
    path = tmp_path / "toy.txt"
    path.write_text(COLUMNS, encoding="utf-8")
    sentences = [Tagged(("He", "laughed"), ("PRP", "VBD")), Tagged(("#", "3"), ("#", "CD"))]
    assert read_tagged(path) == sentences
    assert read_tagged(path, Columns(1, 3))[0].tags == ("B-NP", "B-VP")


def test_a_missing_column_is_reported_with_its_line(tmp_path):
    path = tmp_path / "toy.txt"
    path.write_text("He PRP\nlaughed\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 2: 1 columns, but words are in column 1"):
        read_tagged(path)


def test_dev_is_every_tenth_sentence_and_no_longer_in_train():
    sentences = [Tagged((f"w{number}",), ("X",)) for number in range(1, 26)]
    train, dev = cut_dev(sentences)
    assert [s.words[0] for s in dev] == ["w10", "w20"]
    assert sorted([*train, *dev]) == sorted(sentences)
    with pytest.raises(ValueError, match="9 training sentences are too few"):
        cut_dev(sentences[:9])


def test_without_a_dev_file_it_is_cut_from_train(bilm_folder, tmp_path):
    path = tmp_path / "toy.txt"
    path.write_text("He PRP B-NP\nlaughed VBD B-VP\n\n" * 20, encoding="utf-8")
    named = ["--train", str(path), "--test", str(path)]
    folders = ["--cache", str(tmp_path), "--results", str(tmp_path / "results")]
    assert main(["pos", str(bilm_folder), *named, *folders]) == 0
    [found] = read_analyses(tmp_path / "results")
    assert (found.sizes["train"], found.sizes["dev"], found.sizes["test"]) == (36, 4, 40)
    assert (found.settings["columns"], found.settings["dev_every"]) == ([1, 2], 10)


def test_the_most_frequent_tag_is_that_of_the_word_or_of_all_words(files):
    train, test = read_tagged(files["train"]), read_tagged(files["test"])
    train.append(Tagged(("barks",), ("VBZ",)))
    scores = frequent_tags(train, test, Tags(train))
    assert scores == (100.0, 100.0)  # barks is mostly VBZ, and most words are NN like the cow


def test_a_tag_unseen_in_training_is_never_correct():
    tags = Tags([Tagged(("a",), ("X",))])
    scores = tags.score([Tagged(("a", "b"), ("X", "Y"))], torch.tensor([0, 0]))
    assert scores == (50.0, 0.0)


def test_a_linear_relation_is_learned_and_holds_for_unseen_words():
    rng = np.random.default_rng(0)
    rows = {
        split: rng.normal(size=(400, 5)).astype(np.float16) for split in ("train", "dev", "test")
    }
    names = ["A", "B", "C"]
    splits = {
        split: [Tagged((f"{split}{i}",), (names[int(x[:3].argmax())],)) for i, x in enumerate(data)]
        for split, data in rows.items()
    }
    scores = probe_pos(Tags(splits["train"]), splits, rows, Training())
    assert scores.accuracy > 93
    assert scores.unseen == scores.accuracy


def test_the_same_data_produce_the_same_scores(bilm, files, tmp_path):
    first = study_pos(bilm, files, "toy", cache=tmp_path)
    assert study_pos(bilm, files, "toy", cache=tmp_path).layers == first.layers


def test_gradients_of_blocks_sum_to_that_of_all_rows(monkeypatch):
    rows, target = torch.randn(10, 3), torch.arange(10) % 2
    probe = Probe(rows, 2)
    loss = probe.accumulate(rows, target, 0.1)
    whole = probe.linear.weight.grad.clone()
    monkeypatch.setattr(pos_probe, "BLOCK_ROWS", 4)
    probe.zero_grad()
    assert probe.accumulate(rows, target, 0.1) == pytest.approx(loss)
    torch.testing.assert_close(probe.linear.weight.grad, whole)


def test_rows_are_the_layers_of_the_words_in_order(bilm, files, tmp_path):
    sentences = read_tagged(files["train"])
    rows = gather(bilm, sentences, tmp_path / "rows.npy")
    expected = np.concatenate([bilm.embed([s.words])[0].numpy() for s in sentences], axis=1)
    np.testing.assert_allclose(rows, expected, atol=2e-3)


def test_the_command_shows_and_records_every_layer_and_baseline(
    bilm_folder, files, tmp_path, capsys
):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("the 1 0\ndog 0 1\n", encoding="utf-8")
    named = [part for split, path in files.items() for part in (f"--{split}", str(path))]
    folders = ["--cache", str(tmp_path), "--results", str(tmp_path / "results")]
    assert main(["pos", str(bilm_folder), *named, *folders, "--vectors", str(vectors)]) == 0
    assert "layer 2" in capsys.readouterr().out
    [found] = read_analyses(tmp_path / "results")
    assert len(found.layers) == 3
    assert set(found.baselines) == {"most frequent tag", "static vectors, vectors.txt"}
    assert found.sizes["train"] == 7


def test_all_or_none_of_the_files_must_be_given(bilm_folder, files, capsys):
    assert main(["pos", str(bilm_folder), "--train", str(files["train"])]) == 2
    assert "give --train and --test together" in capsys.readouterr().err


def test_the_english_web_treebank_is_read_completely():
    sentences = read_tagged(shared("data", "srl", "ewt-propbank.dev.gold_conll.gz"))
    assert len(sentences) == 1960
    assert {"NN", "VBZ", "IN"} < set(Tags(sentences).names)


def test_conll2000_is_read_completely():
    train = read_tagged(shared("data", "pos", "conll2000.train.txt"))
    test = read_tagged(shared("data", "pos", "conll2000.test.txt"))
    assert (len(train), len(test)) == (8936, 2012)
    assert round(frequent_tags(train, test, Tags(train)).accuracy, 1) == 90.6
