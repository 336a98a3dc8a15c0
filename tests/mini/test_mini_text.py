"""The text generator: trees to tokens, agreement, articles, voices, questions, sentiment."""

import re
from pathlib import Path

import pytest

from elmo_bench.mini.draw import Draw
from elmo_bench.mini.grammar import NOT, Argument, Clause, full_stop, statement
from elmo_bench.mini.morphology import plural_word, verb_word
from elmo_bench.mini.population import build_world
from elmo_bench.mini.relations import EVERY_RELATION
from elmo_bench.mini.sentiment import level, tree_text
from elmo_bench.mini.subordination import infinitive, question, relative
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tellings import members, noun_classes
from elmo_bench.mini.tree import COMMA, Phrase, Sentence, Token, plain_text, token
from elmo_bench.mini.world import World


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(1)


def noun(*words: str, agreement: str = "s") -> Phrase:
    return Phrase("NP", [token(word, "NNP", word) for word in words], agreement)


def joining(**changes: object) -> Clause:
    """`Novak joined Dunmere in 1990`."""
    year = Argument("ARGM-TMP", noun("1990"), "in", "date")
    club = Argument("ARG1", noun("Dunmere"), "", "club")
    clause = Clause("join", "01", Argument("ARG0", noun("Novak"), "", "player"), [club], [year])
    for name, value in changes.items():
        setattr(clause, name, value)
    return clause


def text(phrase: Phrase) -> str:
    return " ".join(Sentence(phrase).words)


def roles(phrase: Phrase) -> dict[str, str]:
    sentence = Sentence(phrase)
    return {
        mark[2]: " ".join(sentence.words[start:end]) for start, end, mark in sentence.marks("role")
    }


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "Novak joined Dunmere in 1990"),
        ({"passive": True}, "Dunmere was joined by Novak in 1990"),
        ({"negation": NOT}, "Novak did not join Dunmere in 1990"),
        ({"tense": "present"}, "Novak joins Dunmere in 1990"),
        ({"tense": "perfect", "passive": True}, "Dunmere has been joined by Novak in 1990"),
        ({"tense": "progressive", "negation": NOT}, "Novak is not joining Dunmere in 1990"),
        ({"modal": "may", "passive": True}, "Dunmere may be joined by Novak in 1990"),
    ],
)
def test_a_clause_takes_every_form(changes: dict[str, object], expected: str) -> None:
    assert text(statement(joining(**changes))) == expected


def test_roles_follow_their_phrases_through_the_passive() -> None:
    active, passive = roles(statement(joining())), roles(statement(joining(passive=True)))
    assert (active["ARG0"], active["ARG1"]) == ("Novak", "Dunmere")
    assert (passive["ARG0"], passive["ARG1"], passive["V"]) == ("by Novak", "Dunmere", "joined")


def test_a_moved_adjunct_keeps_its_role() -> None:
    assert roles(statement(joining(), front=True))["ARGM-TMP"] == "In 1990"
    assert text(statement(joining(), front=True)) == "In 1990 , Novak joined Dunmere"


def test_a_relative_pronoun_gets_the_role_of_its_antecedent() -> None:
    clause = joining()
    said = relative(clause, noun("Novak"), clause.subject, token("who", "WP"))
    assert text(said) == "Novak , who joined Dunmere in 1990"
    assert roles(said)["R-ARG0"] == "who" and roles(said)["ARG0"] == "Novak"


def test_the_subject_of_an_infinitive_is_marked_in_the_main_clause() -> None:
    inner = joining()
    subject = inner.subject.phrase
    outer = Clause("hope", "01", Argument("ARG0", subject))
    outer.objects = [Argument("ARG1", infinitive(inner, subject))]
    sentence = Sentence(statement(outer))
    assert " ".join(sentence.words) == "Novak hoped to join Dunmere in 1990"
    owners = [mark[1].lemma for _, _, mark in sentence.marks("role") if mark[2] == "ARG0"]
    assert sorted(owners) == ["hope", "join"]


@pytest.mark.parametrize(
    ("asked", "word", "expected"),
    [
        ("player", "who", "Who joined Dunmere in 1990 ?"),
        ("club", "what", "What did Novak join in 1990 ?"),
    ],
)
def test_a_question_asks_for_one_slot(asked: str, word: str, expected: str) -> None:
    wh = Phrase("WHNP", [token(word, "WP")])
    assert text(question(joining(), asked, wh, pied_piping=False)) == expected


def test_a_preposition_is_stranded_or_pied_piped() -> None:
    wh = [Phrase("WHNP", [token("which", "WDT"), token("year", "NN")]) for _ in range(2)]
    behind = text(question(joining(), "date", wh[0], pied_piping=False))
    along = text(question(joining(), "date", wh[1], pied_piping=True))
    assert behind == "Which year did Novak join Dunmere in ?"
    assert along == "In which year did Novak join Dunmere ?"


def test_spans_exclude_commas_and_punctuation_is_not_doubled() -> None:
    name = noun("Novak").mark("entity", "PERSON")
    inside = Phrase("NP", [name, COMMA, noun("striker").mark("x"), COMMA])
    sentence = Sentence(full_stop(inside))
    assert sentence.words == ["Novak", ",", "striker", "."]
    assert [(start, end) for start, end, _ in sentence.marks("x")] == [(2, 3)]


@pytest.mark.parametrize(
    ("following", "article"),
    [("owl", "an"), ("university", "a"), ("hour", "an"), ("European", "a"), ("18th", "an")],
)
def test_the_article_fits_the_sound(following: str, article: str) -> None:
    phrase = Phrase("NP", [token("of", "IN"), token("a", "DT"), token(following, "NN")])
    assert Sentence(phrase).words[1] == article


def test_verbs_and_plurals_are_inflected() -> None:
    forms = {("carry", "VBZ"): "carries", ("plan", "VBG"): "planning", ("take", "VBN"): "taken"}
    forms |= {("lie", "VBG"): "lying", ("sob", "VBD"): "sobbed", ("visit", "VBD"): "visited"}
    assert {key: verb_word(*key) for key in forms} == forms
    assert [plural_word(word) for word in ("party", "match", "child")] == [
        "parties",
        "matches",
        "children",
    ]


def test_plain_text_has_the_span_of_every_token() -> None:
    words = ["``", "I", "ca", "n't", ",", "''", "said", "Ann", "'s", "-LRB-", "x", "-RRB-", "."]
    tags = ["``", "PRP", "MD", "RB", ",", "''", "VBD", "NNP", "POS", "-LRB-", "NN", "-RRB-", "."]
    tokens = [token(word, tag) for word, tag in zip(words, tags, strict=True)]
    written, spans = plain_text(tokens)
    assert written == "\"I can't,\" said Ann's (x)."
    assert [written[start:end] for start, end in spans][1:5] == ["I", "ca", "n't", ","]


ADJECTIVES = {"good": 1.0, "superb": 2.0, "dull": -1.0, "awful": -2.0}


def tree(words: str) -> Phrase:
    """A right-branching phrase of opinion words and operators."""
    operators: dict[str, float | str] = {"not": "not", "very": "x1.5", "slightly": "x0.5"}
    operators |= {"lacks": "lack", "but": "but", "although": "although", **ADJECTIVES}
    kids = [token(word, "X", effect=operators.get(word, 0.0)) for word in words.split()]
    return Phrase("S", list(kids))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("it is superb", 4),
        ("it is good", 3),
        ("it is very good", 4),
        ("it is slightly dull", 1),
        ("it is very dull", 0),
        ("it is not good", 1),
        ("it is not superb", 1),
        ("it is not dull", 3),
        ("it is not awful", 2),
        ("it lacks good", 1),
        ("it is here", 2),
        ("good but dull", 1),
        ("awful but good", 2),
    ],
)
def test_sentiment_composes(words: str, expected: int) -> None:
    phrase = tree(words)
    assert tree_text(Sentence(phrase).tokens, phrase)[1] == expected


def test_a_concession_weighs_less_than_what_follows() -> None:
    granted = Phrase("SBAR", tree("although superb").kids)
    phrase = Phrase("S", [granted, COMMA, *tree("it is awful").kids])
    assert tree_text(Sentence(phrase).tokens, phrase)[1] < 2


def test_levels_are_symmetric() -> None:
    values = (0.3, 0.6, 1.0, 1.5, 2.5)
    assert [level(-value) for value in values] == [4 - level(value) for value in values]


def test_every_slot_and_class_that_a_telling_names_exists() -> None:
    for relation in EVERY_RELATION.values():
        for telling in relation.tellings:
            assert telling.slots | telling.owners <= relation.slots.keys(), (relation.name, telling)
            holes = [
                part
                for role in telling.roles
                for part in role.filler.parts
                if not isinstance(part, Token)
            ]
            assert all(hole.name in noun_classes() for hole in holes if hole.kind == "class")


def test_training_never_mentions_held_out_names(world: World) -> None:
    teller = Teller(world, Draw(1, "held"), "train")
    facts = [teller.fact(name) for name in EVERY_RELATION for _ in range(20)]
    assert not any(entity.held for fact in facts for entity in fact.entities())


def test_every_class_has_a_noun_for_training() -> None:
    assert all(members(name, True) for name in noun_classes())


def test_a_novel_is_written_once_in_all_texts(world: World) -> None:
    for book in world.pools["novel"]:
        written = [fact for fact in world.facts[book.key] if fact.relation.name == "write"]
        assert len(written) == 1


def test_the_corpus_reads_like_english(mini: Path) -> None:
    """No doubled words, wrong articles or doubled punctuation; a capital at every start."""
    corpus = (mini / "corpus/heldout.txt").read_text().splitlines()
    bad = re.compile(r"\b(a [aeio]\w|an [bcdfgjklmnpqrstvwxz]\w|(the|a|of|and|was) \2)\b| , [,.]")
    assert [line for line in corpus if bad.search(line)] == []
    assert all(re.match(r"(`` )?[A-Z0-9]", line) for line in corpus)
