import numpy as np
import pytest

from elmo_bench.analysis.senses import SenseExample, read_senses
from elmo_bench.analysis.wsd import Method, disambiguate, gather, most_frequent, score_senses
from elmo_bench.analysis.wsd_study import study_senses
from elmo_bench.cli import main
from elmo_bench.records.analysis import read_analyses
from elmo_bench.report.analysis_tables import method_label
from tests.analysis.test_read_senses import KEYS, write_framework


def example(lemma, *senses):
    return SenseExample(lemma, senses, 0, 0, (lemma,))


TRAIN = [example("bank", "river"), example("bank", "money"), example("bank", "money")]
VECTORS = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]])
BANK = [example("bank", "river")]


def test_the_nearest_mean_of_a_sense_is_chosen():
    answers = disambiguate(TRAIN, VECTORS, BANK, np.array([[0.9, 0.3]]), Method(), {})
    assert answers == ["river"]


def test_the_nearest_instance_may_be_of_another_sense_than_the_nearest_mean():
    asked = np.array([[0.85, 0.35]])  # nearer to (0.8, 0.6) than to (1, 0), yet not to its mean
    assert disambiguate(TRAIN, VECTORS, BANK, asked, Method("instance"), {}) == ["money"]
    assert disambiguate(TRAIN, VECTORS, BANK, asked, Method("sense"), {}) == ["river"]


def test_centering_removes_what_all_occurrences_share():
    shared = np.array([100.0, 100.0])
    plain = disambiguate(TRAIN, VECTORS, BANK, VECTORS[:1], Method(center=True), {})
    moved = disambiguate(
        TRAIN, VECTORS + shared, BANK, VECTORS[:1] + shared, Method(center=True), {}
    )
    assert plain == moved == ["river"]


def test_only_senses_of_the_same_word_compete():
    train = [*TRAIN, example("pen", "writing")]
    vectors = np.array([*VECTORS, [0.5, 0.5]])
    assert disambiguate(train, vectors, BANK, np.array([[0.5, 0.5]]), Method(), {}) == ["money"]


def test_a_word_unseen_in_training_gets_its_most_frequent_sense_or_none():
    asked = [example("pen", "writing"), example("fox", "animal")]
    answers = disambiguate(TRAIN, VECTORS, asked, np.ones((2, 2)), Method(), {"pen": "fence"})
    assert answers == ["fence", None]


def test_the_most_frequent_sense_is_counted_by_word():
    assert most_frequent(TRAIN) == {"bank": "money"}


def test_f1_is_the_harmonic_mean_and_any_gold_sense_is_correct():
    test = [example("a", "1", "2"), example("b", "1"), example("c", "1"), example("d", "1")]
    precision, recall = 2 / 3, 2 / 4
    expected = 100 * 2 * precision * recall / (precision + recall)
    assert score_senses(test, ["2", "1", "x", None]) == pytest.approx(expected)


def test_vectors_are_averaged_over_the_window_of_the_word(bilm, senses, tmp_path):
    examples = read_senses(senses)
    rows = gather(bilm, examples, [0, 1], tmp_path / "vectors.npy")
    [layers] = bilm.embed([examples[0].tokens])
    np.testing.assert_allclose(rows[0][:, 0], layers[:, 3], atol=2e-3)
    np.testing.assert_allclose(rows[1][:, 0], layers[:, 2:5].mean(dim=1), atol=2e-3)


def test_examples_of_one_sentence_share_its_layers(bilm, senses, tmp_path):
    [first, *_] = read_senses(senses)
    examples = [first, first._replace(first=0, last=0), first._replace(first=0, last=3)]
    rows = gather(bilm, examples, [0], tmp_path / "vectors.npy")[0]
    [layers] = bilm.embed([first.tokens])
    np.testing.assert_allclose(rows[:, 1], layers[:, 0], atol=2e-3)
    np.testing.assert_allclose(rows[:, 2], layers[:, :4].mean(dim=1), atol=2e-3)


def test_training_occurrences_are_recalled_perfectly(bilm, senses, tmp_path):
    method = Method("instance")
    [found] = study_senses(bilm, senses, [senses], "toy", [method], cache=tmp_path)
    assert found.layers[-1]["f1"] == 100
    assert found.baselines["most frequent sense"]["f1"] == 75


def test_test_sets_are_scored_together_and_separately(bilm, senses, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(senses.read_text().splitlines()[0] + "\n")
    [found] = study_senses(bilm, senses, [senses, other], "toy", cache=tmp_path)
    assert set(found.layers[0]) == {"f1", "f1 senses", "f1 other"}
    assert found.baselines["most frequent sense"]["f1"] == pytest.approx(100 * 4 / 5)


def test_the_development_set_counts_only_in_the_score_of_all(bilm, senses, tmp_path):
    lines = senses.read_text().splitlines(keepends=True)
    (tmp_path / "semeval2007.jsonl").write_text(lines[2])  # the rarer sense of play
    (tmp_path / "senseval2.jsonl").write_text("".join(lines[:2]))
    tests = [tmp_path / f"{name}.jsonl" for name in ("semeval2007", "senseval2")]
    [found] = study_senses(bilm, senses, tests, "toy", cache=tmp_path)
    assert found.baselines["most frequent sense"] == pytest.approx(
        {"f1": 100, "f1 all": 200 / 3, "f1 semeval2007": 0, "f1 senseval2": 100}
    )


def test_wordnet_replaces_counts_and_the_record_says_so(bilm, senses, tmp_path):
    words = [line.replace('"play"', '"play#NOUN"') for line in senses.read_text().splitlines()[:3]]
    path = tmp_path / "keyed.jsonl"
    path.write_text("\n".join(words))
    (tmp_path / "index.sense").write_text("play%1:04:00:: 01 1 9\n")
    [counted] = study_senses(bilm, path, [path], "toy", cache=tmp_path)
    [ranked] = study_senses(bilm, path, [path], "toy", cache=tmp_path, wordnet=tmp_path)
    assert counted.baselines["most frequent sense"]["f1"] == pytest.approx(200 / 3)
    assert ranked.baselines["WordNet first sense"]["f1"] == 0  # none of the senses is that one
    assert "WordNet's first sense" in method_label(ranked)
    assert "WordNet" not in method_label(counted)


def test_gold_keys_are_part_of_what_was_computed(bilm, tmp_path):
    found = []
    for keys in (KEYS, KEYS.replace(" art%1:06:00::", "")):
        path = write_framework(tmp_path, keys=keys)
        found += study_senses(bilm, path, [path], "toy", cache=tmp_path)
    assert found[0].run != found[1].run


def test_the_command_records_every_method(bilm_folder, senses, tmp_path, capsys):
    command = [
        "wsd", str(bilm_folder), "--train", str(senses), "--test", str(senses),
        "--center", "no", "yes", "--window", "0", "1",
        "--cache", str(tmp_path), "--results", str(tmp_path / "results"),
    ]  # fmt: skip
    assert main(command) == 0
    assert "centered" in capsys.readouterr().out
    assert len(read_analyses(tmp_path / "results")) == 4
