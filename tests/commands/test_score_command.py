import json

import pytest

from elmo_bench.cli import main
from elmo_bench.config.compose import task_names
from tests.conftest import shared
from tests.corpora import COREF, NER, SNLI, SRL, SST5, TEXTS

ANSWERS = '{"q1": "London", "q2": "in 1815"}'
SAME = {**TEXTS, "squad": '{"q1": "London", "q2": "1815"}'}
CHANGED = {
    "ner": (NER.replace("Blackburn NNP I-NP I-PER", "Blackburn NNP I-NP O"), "f1"),
    "sst5": (SST5.replace("(1 (2 No)", "(0 (2 No)"), "accuracy"),
    "snli": (SNLI.replace("neutral", "contradiction"), "accuracy"),
    "squad": ('{"q1": "London", "q2": "Paris"}', "f1"),
    "srl": (SRL.replace("(ARG1*", "(ARG2*"), "f1"),
    "coref": (COREF.replace("(2|(1)|(3", "(2|(3)|(3"), "conll_f1"),
}


def score(tmp_path, capsys, task, predicted, *flags):
    gold_path, predicted_path = tmp_path / "gold", tmp_path / "predicted"
    gold_path.write_text(TEXTS[task], encoding="utf-8")
    predicted_path.write_text(predicted, encoding="utf-8")
    status = main(["score", task, str(gold_path), str(predicted_path), *flags])
    return status, capsys.readouterr()


@pytest.mark.parametrize("task", sorted(TEXTS))
def test_gold_against_itself_is_perfect(tmp_path, capsys, task):
    status, printed = score(tmp_path, capsys, task, SAME[task], "--json")
    assert status == 0
    assert json.loads(printed.out)[CHANGED[task][1]] == pytest.approx(100)


@pytest.mark.parametrize("task", sorted(TEXTS))
def test_a_mistake_lowers_the_score(tmp_path, capsys, task):
    predicted, metric = CHANGED[task]
    _, printed = score(tmp_path, capsys, task, predicted, "--json")
    assert 0 < json.loads(printed.out)[metric] < 100


@pytest.mark.parametrize("task", sorted(TEXTS))
def test_the_table_has_the_metric(tmp_path, capsys, task):
    _, printed = score(tmp_path, capsys, task, SAME[task])
    assert CHANGED[task][1] in printed.out
    assert "100.00" in printed.out


@pytest.mark.parametrize(
    ("task", "predicted", "problem"),
    [
        ("ner", NER.replace("calls", "phones"), "'phones' where gold has 'calls'"),
        ("ner", NER.partition("Peter")[0], "ends after 1 examples"),
        ("ner", NER + "\nmore X X O\n", "continues with"),
        ("sst5", SST5.replace("fun", "joy"), "'joy' where gold has 'fun'"),
        ("snli", SNLI.replace("A boy", "A girl"), "'girl' where gold has 'boy'"),
        ("squad", "[]", "not a JSON object"),
        ("squad", '{"q1": 5}', "the prediction 5 is not a text"),
        ("srl", SRL.replace("cats", "rats"), "'rats' where gold has 'cats'"),
        ("coref", COREF.replace("0001", "0002"), "has no document bc/x/00/x_0001_0"),
        ("coref", COREF + COREF.replace("0001", "0002"), "gold has no document"),
    ],
)
def test_files_that_do_not_match_are_reported_in_one_line(
    tmp_path, capsys, task, predicted, problem
):
    status, printed = score(tmp_path, capsys, task, predicted)
    assert status == 2
    assert problem in printed.err
    assert printed.err.count("\n") == 1


def test_an_unknown_task_is_reported_with_the_known_ones(capsys):
    assert main(["score", "parsing", "a", "b"]) == 2
    assert "coref, ner" in capsys.readouterr().err


def test_help_lists_the_tasks(capsys):
    with pytest.raises(SystemExit):
        main(["score", "--help"])
    assert ", ".join(task_names()) in capsys.readouterr().out


def test_pairs_without_a_gold_label_do_not_count(tmp_path, capsys):
    predicted = SNLI.replace('"-"', '"neutral"')
    _, printed = score(tmp_path, capsys, "snli", predicted, "--json")
    assert json.loads(printed.out) == {"accuracy": 100.0}


def test_every_predicate_of_the_gold_file_counts(tmp_path, capsys):
    without_noun_argument = SRL.replace(" (ARG0*) (ARG0*) -", " (ARG0*) * -")
    _, printed = score(tmp_path, capsys, "srl", without_noun_argument, "--json")
    assert json.loads(printed.out)["recall"] == pytest.approx(100 * 2 / 3)


def test_the_squad_metric_takes_the_best_reference(tmp_path, capsys):
    _, printed = score(tmp_path, capsys, "squad", ANSWERS, "--json")
    assert json.loads(printed.out) == pytest.approx(
        {"exact_match": 50, "f1": 100 * (1 + 2 / 3) / 2}
    )


@pytest.mark.parametrize(
    ("task", "parts", "metric"),
    [
        ("ner", ("ner", "wnut17.test.conll"), "f1"),
        ("sst5", ("sst", "dev.txt"), "accuracy"),
        ("coref", ("coref", "ontogum.test.v4_gold_conll.gz"), "conll_f1"),
        ("srl", ("srl", "ewt-propbank.test.gold_conll.gz"), "f1"),
    ],
)
def test_real_gold_against_itself_is_perfect(capsys, task, parts, metric):
    path = str(shared("data", *parts))
    assert main(["score", task, path, path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[metric] == pytest.approx(100)
