import json
from collections import Counter

import pytest

from elmo_bench.data.files import DataError
from elmo_bench.tasks.squad.data import from_hub, read, read_references
from tests.conftest import shared
from tests.corpora import SQUAD, read_text


def test_answers_become_token_spans_with_the_same_text(tmp_path):
    (where, when), _ = read_text("squad", tmp_path / "a.json")
    assert [where.target.text(*span) for span in where.target.spans] == ["London"]
    assert [when.target.text(*span) for span in when.target.spans] == ["1815", "1815-1816"]
    assert when.target.answers == ("1815", "1815-1816", "815")


def test_an_answer_that_cuts_a_token_is_widened_and_counted(tmp_path):
    _, skipped = read_text("squad", tmp_path / "a.json")
    assert skipped == {"answers that cut a token, widened to it": 1}


def test_tokens_of_the_paragraph_are_slices_of_the_context(tmp_path):
    (example, _), _ = read_text("squad", tmp_path / "a.json")
    target = example.target
    assert example.segments[0] == tuple(target.context[a:b] for a, b in target.offsets)


def changed(context="a cat ", **changes):
    """Return a file with one question and the given changes."""
    answer = {"text": "cat", "answer_start": 2}
    question = {"id": "q", "question": "Who?", "answers": [answer]} | changes
    paragraph = {"context": context, "qas": [question]}
    return json.dumps({"data": [{"title": "t", "paragraphs": [paragraph]}]})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"data": []}', "contains no questions"),
        ("[]", "no list under 'data'"),
        ('{"data": [{"title": "t"}]}', r"data\[0\]: no list under 'paragraphs'"),
        ('{"data": [{"paragraphs": [{"qas": [7]}]}]}', r"qas\[0\]: not a JSON object"),
        (changed(answers=[{"text": "cat", "answer_start": 3}]), "'cat' is not at offset 3"),
        (changed(answers=[{"text": "t", "answer_start": -2}]), "is not at offset -2"),
        (changed(answers=[{"text": "cat"}]), "no 'answer_start'"),
        (changed(id=5), "must be strings"),
    ],
)
def test_damage_is_reported_with_its_location(tmp_path, text, problem):
    with pytest.raises(DataError, match=problem):
        read_text("squad", tmp_path / "a.json", text)


BLANK = {"answers": [{"text": " ", "answer_start": 5}]}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answers": []}, "questions without an answer"),
        (BLANK, "answers that cover no token"),
        (BLANK, "questions without an answer that covers a token"),
        ({"question": " "}, "questions without words"),
    ],
)
def test_questions_skipped_in_training_are_counted(tmp_path, changes, reason):
    examples, skipped = read_text("squad", tmp_path / "a.json", changed(**changes))
    assert not examples
    assert skipped[reason] == 1


@pytest.mark.parametrize("changes", [BLANK, {"question": " "}, {"context": " " * 6} | BLANK])
def test_evaluation_includes_every_question_that_has_an_answer(tmp_path, changes):
    path = tmp_path / "a.json"
    path.write_text(changed(**changes))
    [example] = read(path, "dev", None, Counter())
    assert all(example.segments)
    assert len(example.segments[0]) == len(example.target.offsets)
    assert example.target.answers == tuple(read_references(path)["q"])


@pytest.fixture
def cut_file(tmp_path):
    path, articles = tmp_path / "squad.json", tmp_path / "splits.json"
    path.write_text(changed())
    articles.write_text('{"train": ["t"], "dev": ["another"]}')
    return lambda split: list(read(path, split, str(articles), Counter()))


def test_a_split_that_is_not_named_is_the_whole_file(cut_file):
    assert cut_file("train") == cut_file("test")


def test_a_split_whose_articles_are_not_in_the_file_is_an_error(cut_file):
    with pytest.raises(DataError, match="no questions from these articles"):
        cut_file("dev")


def test_an_article_that_no_split_names_is_read(tmp_path):
    path, articles = tmp_path / "squad.json", tmp_path / "splits.json"
    path.write_text(changed())
    articles.write_text('{"train": ["another"], "dev": ["third"]}')
    assert len(list(read(path, "train", str(articles), Counter()))) == 1


def test_articles_divide_one_file_into_splits():
    path = shared("data", "qa", "squadshifts_new_wiki_v1.0.json.gz")
    articles = str(shared("data", "qa", "squadshifts_new_wiki.splits.json"))
    counts = [len(list(read(path, split, articles, Counter()))) for split in ("train", "dev")]
    assert counts == [7213, 725]


def test_real_questions_are_complete_and_nearly_all_answers_align():
    skipped = Counter()
    examples = list(read(shared("data", "qa", "xquad.en.json"), "dev", None, skipped))
    assert len(examples) == 1190
    assert sum(skipped.values()) < 0.005 * 1190


def test_hub_rows_give_the_same_examples_as_the_file(tmp_path):
    examples, _ = read_text("squad", tmp_path / "a.json")
    paragraph = json.loads(SQUAD)["data"][0]["paragraphs"][0]
    rows = [
        {
            "id": question["id"],
            "context": paragraph["context"],
            "question": question["question"],
            "answers": {
                key: [answer[key] for answer in question["answers"]]
                for key in ("text", "answer_start")
            },
        }
        for question in paragraph["qas"]
    ]
    assert list(from_hub(rows, "train", Counter())) == examples
