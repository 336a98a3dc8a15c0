import gzip
from collections import Counter

import pytest

from elmo_bench.config.pretraining_settings import CorpusSource, HubCorpusSettings
from elmo_bench.pretraining import sentence_store as store
from elmo_bench.pretraining.corpus import HubCorpus, TextCorpus, build_corpus
from elmo_bench.pretraining.identity import text_identity
from elmo_bench.pretraining.sentence_store import SentenceStore, prepare_corpus, write_store


def test_globs_lists_and_gz_files_are_one_stream(tmp_path):
    (tmp_path / "a.txt").write_text("one two\n\n three\n")
    with gzip.open(tmp_path / "b.txt.gz", "wt") as file:
        file.write("four\n")
    (tmp_path / "held.txt").write_text("five\n")
    corpus = TextCorpus([f"{tmp_path}/*.txt", f"{tmp_path}/b*"], f"{tmp_path}/held.txt")
    assert list(corpus.train()) == [["one", "two"], ["three"], ["four"]]
    assert {name: list(part) for name, part in corpus.heldout().items()} == {"held": [["five"]]}


def test_without_held_out_files_every_hundredth_sentence_is_held_out(tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 251)))
    corpus = TextCorpus(f"{tmp_path}/a.txt", None)
    assert [words[0] for words in corpus.heldout()["heldout"]] == ["100", "200"]
    assert len(list(corpus.train())) == 248


def test_weights_repeat_and_thin_out_the_sentences_of_a_file(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text("".join(f"{name}{n}\n" for n in range(4)))
    corpus = TextCorpus(f"{tmp_path}/*.txt", f"{tmp_path}/c.txt", {"a*": 0.5, "b.txt": 2.0})
    words = [sentence[0] for sentence in corpus.train()]
    assert words == ["a1", "a3", *(f"b{n}" for n in range(4) for _ in range(2))]


@pytest.mark.parametrize("weights", [{"x*": 2.0}, {"a*": 2.0, "*.txt": 3.0}])
def test_weights_that_fit_no_file_or_one_file_twice_are_refused(tmp_path, weights):
    (tmp_path / "a.txt").write_text("a\n")
    with pytest.raises(ValueError, match=r"corpus\.weights: .*a\.txt"):
        TextCorpus(f"{tmp_path}/a.txt", None, weights)


def test_weights_change_the_identity_of_the_text(tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    settings = {"kind": "text", "name": "a", "path": f"{tmp_path}/a.txt", "heldout": None}
    whole = CorpusSource.model_validate({"corpus": settings})
    half = CorpusSource.model_validate({"corpus": {**settings, "weights": {"a*": 0.5}}})
    assert text_identity(whole, tmp_path) != text_identity(half, tmp_path)


def test_a_pattern_without_files_is_reported():
    with pytest.raises(FileNotFoundError, match="nowhere"):
        TextCorpus("/nowhere/*.txt", None)


def test_training_text_that_is_all_held_out_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    with pytest.raises(ValueError, match="held out"):
        TextCorpus(f"{tmp_path}/a.txt", f"{tmp_path}/a.txt")


def hub_corpus(folder, **changes):
    values = {
        "kind": "hub",
        "name": "x",
        "dataset": str(folder),
        "config": None,
        "revision": None,
        "split": "train",
        "column": "text",
        "heldout_split": None,
    }
    return HubCorpus(HubCorpusSettings.model_validate({**values, **changes}))


def test_a_hub_dataset_is_read_line_by_line(tmp_path):
    (tmp_path / "train.jsonl").write_text('{"text": "a b\\n\\nc"}\n{"text": "d"}\n')
    (tmp_path / "test.jsonl").write_text('{"text": "e"}\n')
    corpus = hub_corpus(tmp_path, heldout_split="test")
    assert list(corpus.train()) == [["a", "b"], ["c"], ["d"]]
    assert list(corpus.heldout()["test"]) == [["e"]]


def test_a_missing_column_is_reported(tmp_path):
    (tmp_path / "train.jsonl").write_text('{"text": "a"}\n')
    corpus = hub_corpus(tmp_path, column="body")
    with pytest.raises(ValueError, match="body"):
        list(corpus.train())


def test_a_store_returns_every_sentence_by_number(tmp_path):
    sentences = [["a", "b"], ["naïve", "–", "日本"], ["c"]]
    counts = write_store(tmp_path / "s", sentences, count=True)
    stored = SentenceStore(tmp_path / "s")
    assert [stored[n] for n in (2, 0, 1)] == [sentences[n] for n in (2, 0, 1)]
    assert list(stored.lengths) == [2, 3, 1]
    assert stored.num_words == sum(counts.values()) == 6


def test_a_word_with_a_space_is_stored_as_several(tmp_path):
    write_store(tmp_path / "s", [["New York", "x"]], count=False)
    stored = SentenceStore(tmp_path / "s")
    assert stored[0] == ["New", "York", "x"]
    assert stored.lengths[0] == 3


def test_a_corpus_without_words_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("\n \n")
    with pytest.raises(ValueError, match="no words"):
        prepare_corpus(TextCorpus(f"{tmp_path}/a.txt", None), {}, tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("unfinished-*"))


def test_a_prepared_corpus_is_reused_until_its_file_changes(tmp_path):
    path, cache = tmp_path / "a.txt", tmp_path / "cache"
    settings = {"kind": "text", "name": "a", "path": str(path), "heldout": None}
    source = CorpusSource.model_validate({"corpus": settings})

    def prepare():
        return prepare_corpus(build_corpus(source, cache), text_identity(source, cache), cache)

    path.write_text("a b\n" * 100)
    first = prepare()
    before = (first.folder / "counts.txt").stat().st_mtime_ns
    assert (prepare().folder / "counts.txt").stat().st_mtime_ns == before
    path.write_text("a b c\n" * 100)
    changed = prepare()
    assert changed.folder != first.folder
    assert len(changed.vocabulary(10, 1)) == 6


def test_counting_drops_only_the_rarest_words(monkeypatch):
    monkeypatch.setattr(store, "MAX_COUNTED", 2)
    counts = Counter({"a": 5, "b": 3, "c": 1, "d": 1})
    store._forget_rarest(counts)
    assert counts == {"a": 5, "b": 3}
