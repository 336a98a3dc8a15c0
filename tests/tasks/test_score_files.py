"""Test cases of the official scorers, written in the corpora's formats and scored as files."""

import json
from collections import Counter

import pytest

from tests.conftest import shared
from tests.corpora import SNLI, SRL, TEXTS
from tests.metrics.cases import METRICS, ORIGINS, official_cases
from tests.tasks.building import metric_of, new_task

ROW = "x/d 0 {index} {word} VB * lemma {frameset} - - * {rest}\n"


def ner_lines(sentences):
    return "\n".join("".join(f"w{i} {t}\n" for i, t in enumerate(tags)) for tags in sentences)


def brackets(length, arguments):
    """Return a column of argument brackets, from spans that do not overlap."""
    column = ["*"] * length
    for start, end, label in arguments:
        column[start] = f"({label}{column[start]}"
        column[end] += ")"
    return column


def srl_lines(sentences):
    lines = ["#begin document (x/d); part 000\n"]
    for sentence in sentences:
        words, found = sentence["words"], sentence["propositions"]
        columns = [brackets(len(words), proposition["args"]) for proposition in found]
        predicates = {proposition["predicate"] for proposition in found}
        for index, word in enumerate(words):
            rest = " ".join([*(column[index] for column in columns), "-"])
            frameset = "01" if index in predicates else "-"
            lines.append(ROW.format(index=index, word=word, frameset=frameset, rest=rest))
        lines.append("\n")
    return "".join([*lines, "#end document\n"])


def coref_lines(documents, side):
    lines = []
    for part, document in enumerate(documents):
        # Inner mentions close first, so long mentions open first and close last.
        mentions = [(a, b, n) for n, cluster in enumerate(document[side]) for a, b in cluster]
        opened: dict[int, list[str]] = {}
        closed: dict[int, list[str]] = {}
        for start, end, number in sorted(mentions, key=lambda m: (m[0], -m[1])):
            opened.setdefault(start, []).append(f"({number})" if start == end else f"({number}")
            if start != end:
                closed.setdefault(end, []).insert(0, f"{number})")
        lines.append(f"#begin document (x/d); part {part:03}\n")
        token = 0
        for words in document["sentences"]:
            for index, word in enumerate(words):
                cell = "|".join(opened.get(token, []) + closed.get(token, [])) or "-"
                lines.append(f"x/d {part} {index} {word} NN * - - - - * {cell}\n")
                token += 1
            lines.append("\n")
        lines.append("#end document\n")
    return "".join(lines)


def squad_lines(references):
    questions = [
        {"id": key, "question": "?", "answers": [{"text": text} for text in answers]}
        for key, answers in references.items()
    ]
    return json.dumps({"data": [{"paragraphs": [{"context": "", "qas": questions}]}]})


WRITERS = {
    "ner": lambda case: (ner_lines(case["gold"]), ner_lines(case["pred"])),
    "srl": lambda case: (srl_lines(case["gold"]), srl_lines(case["pred"])),
    "coref": lambda case: tuple(coref_lines(case["documents"], side) for side in ("gold", "pred")),
    "squad": lambda case: (squad_lines(case["references"]), json.dumps(case["predictions"])),
}


def flat(scores, prefix=""):
    for key, value in scores.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("name", METRICS)
def test_files_score_the_same_as_with_the_official_scorer(name, origin, tmp_path):
    task = new_task(name)
    gold, predicted = tmp_path / "gold", tmp_path / "predicted"
    cases = official_cases(name, origin)
    for case in (case for case in cases if len(json.dumps(case)) < 20_000):
        for path, text in zip((gold, predicted), WRITERS[name](case), strict=True):
            path.write_text(text, encoding="utf-8")
        scores = dict(flat(task.score_files(gold, predicted)))
        assert scores == pytest.approx(dict(flat(case["expected"])), abs=0.01), case["id"]


def write_gold(task, gold, path):
    """Write what a perfect model would predict."""
    examples = list(task.read(gold, "dev", Counter()))
    task.write_predictions(examples, [task.gold(example) for example in examples], path)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_gold_written_as_predictions_is_perfect(name, tmp_path):
    task, gold = new_task(name), tmp_path / "gold"
    gold.write_text(TEXTS[name], encoding="utf-8")
    write_gold(task, gold, tmp_path / "predicted")
    scores = task.score_files(gold, tmp_path / "predicted", partial=name == "srl")
    assert scores[metric_of(name)] == pytest.approx(100)


REAL = {
    "ner": ("ner", "wnut17.test.conll"),
    "sst5": ("sst", "dev.txt"),
    "snli": ("nli", "snli_1.0_test.jsonl.gz"),
    "squad": ("qa", "squadshifts_new_wiki_v1.0.json.gz"),
    "srl": ("srl", "ewt-propbank.test.gold_conll.gz"),
}


@pytest.mark.parametrize("name", sorted(REAL))
def test_gold_of_a_real_corpus_or_a_part_of_it_is_perfect(name, tmp_path):
    gold, changes = shared("data", *REAL[name]), {}
    if name == "squad":
        changes["articles"] = str(shared("data", "qa", "squadshifts_new_wiki.splits.json"))
    task = new_task(name, **changes)
    write_gold(task, gold, tmp_path / "predicted")
    scores = task.score_files(gold, tmp_path / "predicted", partial=name in ("squad", "srl"))
    assert scores[metric_of(name)] == pytest.approx(100, abs=0.5 if name == "squad" else 1e-6)


def test_missing_predictions_count_as_wrong_unless_the_score_is_partial(tmp_path):
    gold, predicted = tmp_path / "gold", tmp_path / "pred"
    task = new_task("srl", all_predicates=False)
    gold.write_text(SRL, encoding="utf-8")
    write_gold(task, gold, predicted)
    assert task.score_files(gold, predicted)["recall"] == pytest.approx(100 * 2 / 3)
    assert task.score_files(gold, predicted, partial=True)["recall"] == 100


def test_a_repeated_sentence_is_matched_by_its_predicates(tmp_path):
    gold, predicted = tmp_path / "gold", tmp_path / "pred"
    task = new_task("srl", all_predicates=False)
    sentence = SRL.partition("\n")[2].partition("\n\n")[0]
    duplicate = sentence.replace("chase VBP", "chase NN")  # the same words, but no verb
    gold.write_text(SRL.replace(sentence, f"{duplicate}\n\n{sentence}"), encoding="utf-8")
    write_gold(task, gold, predicted)
    assert task.score_files(gold, predicted, partial=True)["f1"] == 100


def test_a_pair_without_a_gold_label_is_optional_in_the_predictions(tmp_path):
    task, gold, predicted = new_task("snli"), tmp_path / "gold", tmp_path / "pred"
    gold.write_text(SNLI, encoding="utf-8")
    predicted.write_text(SNLI.replace('"-"', '"neutral"'), encoding="utf-8")
    assert task.score_files(gold, predicted) == {"accuracy": 100}
    write_gold(task, gold, predicted)
    assert len(predicted.read_text().splitlines()) == 2
    assert task.score_files(gold, predicted) == {"accuracy": 100}
