"""English inflection: verb forms, plurals, auxiliaries, number words."""

import re
from functools import cache

from elmo_bench.mini.lexicon import sections, words
from elmo_bench.mini.tree import Token, token

_VOWELS = "aeiou"

_IRREGULAR_VERBS = {
    line.split()[0]: (line.split()[1], line.split()[-1]) for line in sections("irregular")["verbs"]
}
_IRREGULAR_PLURALS = dict(line.split() for line in sections("irregular")["plurals"])
_DOUBLING = frozenset(words("irregular", "doubling"))
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")  # plan, sob: double the last letter
_BE = {"VBZ": "is", "VBP": "are", "VBD": "was"}


def verb_word(lemma: str, form: str) -> str:
    """The form (VB VBZ VBP VBD VBN VBG) of a verb as a word, third person."""
    if lemma == "be" and form in _BE:
        return _BE[form]
    if form in ("VB", "VBP"):
        return lemma
    if form == "VBZ":
        return "has" if lemma == "have" else _with_s(lemma)
    if form == "VBG":
        return _with_ing(lemma)
    if lemma in _IRREGULAR_VERBS:
        return _IRREGULAR_VERBS[lemma][form == "VBN"]
    return _with_ed(lemma)


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh", "go", "do")):
        return word + "es"
    if word.endswith("y") and word[-2] not in _VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _with_ing(word: str) -> str:
    if word.endswith("ie"):
        return word[:-2] + "ying"
    if word.endswith("e") and not word.endswith(("ee", "oe", "ye")) and word != "be":
        return word[:-1] + "ing"
    return _doubled(word) + "ing"


def _with_ed(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    if word.endswith("y") and word[-2] not in _VOWELS:
        return word[:-1] + "ied"
    return _doubled(word) + "ed"


def _doubled(word: str) -> str:
    return word + word[-1] if word in _DOUBLING or _SHORT.fullmatch(word) else word


def plural_word(noun: str) -> str:
    return _IRREGULAR_PLURALS.get(noun) or _with_s(noun)


@cache
def verb_token(
    lemma: str, form: str, agreement: str, sense: str = "", effect: float | str = 0.0
) -> Token:
    """A verb form that agrees with its subject."""
    if form == "VBZ" and agreement != "s":
        form = "VBP"
    word = verb_word(lemma, form)
    if lemma == "be" and agreement == "i" and form == "VBP":
        word = "am"
    if lemma == "be" and agreement == "p" and form == "VBD":
        word = "were"
    return token(word, form, lemma, sense, effect)


@cache
def noun_token(noun: str, plural: bool, sense: str = "", effect: float | str = 0.0) -> Token:
    if plural:
        return token(plural_word(noun), "NNS", noun, sense, effect)
    return token(noun, "NN", noun, sense, effect)


NUMBER_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]


@cache
def number_token(number: int) -> Token:
    """An integer as newspapers write it: words up to twelve, then digits with commas."""
    word = NUMBER_WORDS[number] if number < len(NUMBER_WORDS) else f"{number:,}"
    return token(word, "CD", word)


@cache
def year_token(year: int) -> Token:
    return token(str(year), "CD")
