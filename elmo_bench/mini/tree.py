"""Tokens and phrases that carry their labels, and the sentences they are flattened into.

A label is a mark on its phrase. Flattening the tree assigns every mark its token span, so labels
never have to be recovered from the words.
"""

from collections.abc import Iterator
from typing import Any


class Token:
    """A word with its properties; `token` makes equal tokens identical."""

    __slots__ = ("capital", "effect", "lemma", "pos", "sense", "word")

    def __init__(self, word: str, pos: str, lemma: str, sense: str, effect: "float | str") -> None:
        self.word = word
        self.pos = pos
        self.lemma = lemma
        self.sense = sense  # of a word with several meanings, otherwise ""
        self.effect = effect  # on sentiment: a value, or the name of an operator on other values
        self.capital: Token | None = (
            None  # the token at the start of a sentence, created when needed
        )


_TOKENS: dict[tuple[str, str, str, str, float | str], Token] = {}


def token(
    word: str, pos: str, lemma: str = "", sense: str = "", effect: float | str = 0.0
) -> Token:
    """Return the unique token with these properties."""
    key = (word, pos, lemma or word.lower(), sense, effect)
    found = _TOKENS.get(key)
    if found is None:
        found = _TOKENS[key] = Token(*key)
    return found


COMMA = token(",", ",")
PERIOD = token(".", ".")
QUESTION = token("?", ".")
OPEN_QUOTE = token("``", "``")
CLOSE_QUOTE = token("''", "''")
CAPITAL = token("<capital>", "")  # takes no position: the next word starts a sentence
A = token("a", "DT")
AN = token("an", "DT")
_SWALLOWS_COMMA = {".", ",", ":"}  # parts of speech before which no comma is written


class Phrase:
    """A constituent: category (empty when it only carries marks), children, marks, agreement."""

    __slots__ = ("agreement", "cat", "kids", "marks")

    def __init__(self, cat: str, kids: list[Any], agreement: str = "s") -> None:
        self.cat = cat
        self.kids = kids
        self.marks: list[tuple[Any, ...]] = []
        self.agreement = agreement  # of a verb whose subject it is: s (he), p (they), i (I)

    def mark(self, *mark: Any) -> "Phrase":
        """Add a label, such as ("entity", "ORG"), ("role", proposition, "ARG0")."""
        self.marks.append(mark)
        return self


class Sentence:
    """A flattened tree: tokens, and the span of every phrase, outer phrases first."""

    __slots__ = ("root", "spans", "speaker", "tokens")

    def __init__(self, root: Phrase, speaker: str = "-") -> None:
        self.root = root
        self.speaker = speaker
        self.tokens, self.spans = _flatten(root)

    @property
    def words(self) -> list[str]:
        return [item.word for item in self.tokens]

    def marks(self, kind: str) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
        """(start, end, mark) of every mark of a kind; end is exclusive."""
        for start, end, phrase in self.spans:
            for mark in phrase.marks:
                if mark[0] == kind:
                    yield start, end, mark


def _flatten(root: Phrase) -> tuple[list[Token], list[tuple[int, int, Phrase]]]:
    tokens: list[Token] = []
    spans: list[Any] = []
    comma = False  # a comma is held back until it is known that no other punctuation follows
    capital = True

    def visit(phrase: Phrase) -> None:
        nonlocal comma, capital
        place, start, held = len(spans), len(tokens), comma
        spans.append(None)
        for kid in phrase.kids:
            if kid.__class__ is Phrase:
                visit(kid)
            elif kid is COMMA:
                comma = bool(tokens)
            elif kid is CAPITAL:
                capital = True
            else:
                if comma:
                    comma = False
                    if kid.pos not in _SWALLOWS_COMMA:
                        tokens.append(COMMA)
                if capital and kid.pos != "``":
                    capital = False
                    kid = kid.capital or _capitalise(kid)
                if tokens and tokens[-1].lemma == "a" and tokens[-1].pos == "DT":
                    _fit_article(tokens, kid.word)
                tokens.append(kid)
        if held and len(tokens) > start and tokens[start] is COMMA:
            start += 1  # the comma belongs to what came before
        spans[place] = (start, len(tokens), phrase)

    visit(root)
    return tokens, [span for span in spans if span[1] > span[0]]


def _capitalise(plain: Token) -> Token:
    word = plain.word[:1].upper() + plain.word[1:]
    plain.capital = token(word, plain.pos, plain.lemma, plain.sense, plain.effect)
    return plain.capital


_SOUNDS_LIKE_CONSONANT = ("uni", "use", "usu", "eur", "one", "once")
_SOUNDS_LIKE_VOWEL = ("hour", "honest", "honour", "heir", "8", "11", "18")


def _fit_article(tokens: list[Token], following: str) -> None:
    low = following.lower()
    vowel = low[0] in "aeiou" and not low.startswith(_SOUNDS_LIKE_CONSONANT)
    if low.startswith("unin") or low.startswith("unim"):
        vowel = True
    if vowel or low.startswith(_SOUNDS_LIKE_VOWEL):
        capital = tokens[-1].word[0] == "A"
        tokens[-1] = (AN.capital or _capitalise(AN)) if capital else AN


_NO_SPACE_BEFORE = {",", ".", ":", "''", "POS", "-RRB-"}
_NO_SPACE_AFTER = {"``", "-LRB-", "$"}


def plain_text(tokens: list[Token]) -> tuple[str, list[tuple[int, int]]]:
    """Running text as people write it, and the character span of every token in it."""
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    length, tight = 0, True
    for item in tokens:
        word = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")"}.get(item.word, item.word)
        if not (tight or item.pos in _NO_SPACE_BEFORE or word.startswith("'") or word == "n't"):
            word_start = length + 1
            pieces.append(" ")
        else:
            word_start = length
        pieces.append(word)
        length = word_start + len(word)
        spans.append((word_start, length))
        tight = item.pos in _NO_SPACE_AFTER
    return "".join(pieces), spans
