import pytest

from elmo_bench.data.conll2012 import clusters, propositions, read_documents
from elmo_bench.data.files import DataError
from tests.conftest import shared
from tests.corpora import COREF, SRL


def documents(tmp_path, text):
    path = tmp_path / "a.gold_conll"
    path.write_text(text, encoding="utf-8")
    return path, list(read_documents(path))


def test_words_and_parts_of_speech_are_aligned(tmp_path):
    _, [document] = documents(tmp_path, SRL)
    first, second = document.sentences
    assert dict(zip(first.words, first.pos, strict=True))["chase"] == "VBP"
    assert (second.words, second.pos) == (("Quiet",), ("JJ",))


def test_the_parts_of_a_document_are_documents(tmp_path):
    _, found = documents(tmp_path, COREF)
    assert [document.key for document in found] == ["bc/x/00/x_0001_0", "bc/x/00/x_0001_1"]


def test_brackets_become_propositions(tmp_path):
    path, [document] = documents(tmp_path, SRL)
    verb, noun = propositions(path, document.sentences[0])
    assert (verb.predicate, verb.arguments) == (1, ((0, 0, "ARG0"), (1, 1, "V"), (2, 3, "ARG1")))
    assert (noun.predicate, noun.arguments) == (5, ((0, 0, "ARG0"), (4, 5, "ARG2"), (5, 5, "V")))


@pytest.mark.parametrize(("old", "new"), [("(V*)", "*"), ("chase 01", "- -")])
def test_a_predicate_is_recognized_by_its_frameset_or_its_v(tmp_path, old, new):
    path, [document] = documents(tmp_path, SRL.replace(old, new, 1))
    assert [found.predicate for found in propositions(path, document.sentences[0])] == [1, 5]


def test_a_column_without_frameset_and_v_is_an_error(tmp_path):
    path, [document] = documents(tmp_path, SRL.replace("(V*)", "*").replace("chase 01", "- -"))
    with pytest.raises(DataError, match="line 2: argument column 1 has neither"):
        propositions(path, document.sentences[0])


def test_mention_offsets_count_over_the_document(tmp_path):
    path, [document, _] = documents(tmp_path, COREF)
    assert clusters(path, document) == [[(0, 0), (3, 3), (5, 5)], [(2, 2), (5, 6)], [(5, 6)]]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("#end document\n", "", "line 11: the document begun on line 1 has no #end document"),
        ("#begin document (nw/a/00/a_0001); part 000\n", "", "line 1: a line outside"),
        (" 0 3 cats", " 0 4 cats", "line 5: word number '4', expected 3"),
        ("nw/a/00/a_0001 0 3 cats", "nw/b 0 3 cats", "line 5: document 'nw/b'"),
        ("* *) * -", "* *) -", "line 5: 13 columns, but the sentence began with 14"),
        ("* - - - - * -", "* - -", "line 10: 8 columns"),
    ],
)
def test_a_damaged_line_is_reported_with_its_number(tmp_path, old, new, problem):
    with pytest.raises(DataError, match=problem.replace("(", r"\(")):
        documents(tmp_path, SRL.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("* *) * -", "* * * -", "line 4: argument ARG1 is not closed"),
        ("(ARG1* *", "* *", "line 5: an argument is closed but was never opened"),
        ("(ARG1* *", "ARG1 *", "line 4: not argument brackets: 'ARG1'"),
    ],
)
def test_unmatched_argument_brackets_are_reported_with_their_line(tmp_path, old, new, problem):
    path, [document] = documents(tmp_path, SRL.replace(old, new))
    with pytest.raises(DataError, match=problem):
        propositions(path, document.sentences[0])


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("2)|3)", "3)", "line 8: a mention of cluster 2 is not closed"),
        ("(2|(1)|(3", "(1)|(3", "line 9: a mention of cluster 2 is closed but was never opened"),
        ("2)|3)", "2)|x", "line 9: not coreference brackets"),
    ],
)
def test_unmatched_coreference_brackets_are_reported_with_their_line(tmp_path, old, new, problem):
    path, [document, _] = documents(tmp_path, COREF.replace(old, new))
    with pytest.raises(DataError, match=problem):
        clusters(path, document)


def test_the_english_web_treebank_is_complete():
    path = shared("data", "srl", "ewt-propbank.dev.gold_conll.gz")
    assert sum(len(document.sentences) for document in read_documents(path)) == 1960
