"""Fillers that are not entities: dates, sums of money, scores, numbers, products."""

from collections.abc import Callable
from dataclasses import dataclass

from elmo_bench.mini.draw import Draw
from elmo_bench.mini.lexicon import words
from elmo_bench.mini.morphology import number_token, year_token
from elmo_bench.mini.tellings import members
from elmo_bench.mini.tree import Phrase, Token, token

A_TOKEN, THE = token("a", "DT"), token("the", "DT")
IN, ON, OF = token("in", "IN"), token("on", "IN"), token("of", "IN")
PERCENT, MILLION, CROWNS = token("%", "NN"), token("million", "CD"), token("crowns", "NNS", "crown")
THOUSAND, EURO = token("thousand", "CD"), token("euros", "NNS", "euro")


@dataclass(frozen=True, slots=True)
class Value:
    """A filler: its words, and a preposition that belongs to the role but not to an answer."""

    kind: str
    tokens: tuple[Token, ...]
    opening: tuple[Token, ...] = ()  # a preposition
    label: str = ""  # OntoNotes type, only for those that CoNLL-2003 does not count
    plural: bool = False

    def phrase(self) -> Phrase:
        """A new phrase, so that every use has its own marks."""
        category = "ADVP" if self.tokens[0].pos == "RB" else "NP"
        return Phrase(category, list(self.tokens), "p" if self.plural else "s")

    @property
    def text(self) -> str:
        return " ".join(item.word for item in self.tokens)


_DAYS = [token(day, "NNP", day) for day in words("names", "days")]
_MONTHS = [token(month, "NNP", month) for month in words("names", "months")]
_LOOSE = [
    tuple(token(*pair.split("/")) for pair in text.split())
    for text in (
        "last/JJ week/NN",
        "last/JJ month/NN",
        "yesterday/NN",
        "this/DT week/NN",
        "last/JJ night/NN",
        "last/JJ year/NN",
    )
]


def _date(draw: Draw, _: bool) -> Value:
    style = draw.unit()
    if style < 0.45:
        return Value("date", (draw.pick(_DAYS),), (ON,))
    if style < 0.65:
        return Value("date", (draw.pick(_MONTHS), number_token_digits(draw.between(1, 28))), (ON,))
    if style < 0.8:
        return Value("date", (draw.pick(_MONTHS),), (IN,))
    return Value("date", draw.pick(_LOOSE))


def number_token_digits(number: int) -> Token:
    return token(str(number), "CD")


def year_value(year: int) -> Value:
    return Value("date", (year_token(year),), (IN,))


def _old_year(draw: Draw, _: bool) -> Value:
    return Value("date", (year_token(draw.between(1100, 1900)),), (IN,))


def _money(draw: Draw, _: bool) -> Value:
    unit = CROWNS if draw.chance(0.6) else EURO
    return Value("money", (number_token(draw.between(2, 95)), MILLION, unit), plural=True)


def _count(draw: Draw, _: bool) -> Value:
    return Value(
        "count", (number_token(draw.between(2, 99) * draw.pick((10, 100, 1000))),), plural=True
    )


def _score(draw: Draw, _: bool) -> Value:
    low = draw.between(0, 2)
    return Value("score", (token(f"{low + draw.between(1, 3)}-{low}", "CD"),))


_ORDINALS = [
    token(word, "JJ")
    for word in [
        "first",
        "second",
        "fifth",
        "tenth",
        "23rd",
        "31st",
        "44th",
        "52nd",
        "67th",
        "78th",
        "85th",
        "89th",
        "last",
    ]
]


def _minute(draw: Draw, _: bool) -> Value:
    return Value("minute", (THE, draw.pick(_ORDINALS), token("minute", "NN")), (IN,))


def _percent(draw: Draw, _: bool) -> Value:
    return Value("percent", (number_token_digits(draw.between(2, 40)), PERCENT), plural=True)


def _product(draw: Draw, for_training: bool) -> Value:
    product = draw.pick(members("product", for_training))
    return Value("product", (product,), plural=product.pos == "NNS")


def _part(draw: Draw, for_training: bool) -> Value:
    return Value("part", (draw.pick(members("injury", for_training)),))


def _instrument(draw: Draw, for_training: bool) -> Value:
    return Value("instrument", (THE, draw.pick(members("instrument", for_training))))


def _discovery(draw: Draw, for_training: bool) -> Value:
    kind = draw.pick(
        [token(word, "JJ") for word in ("new", "rare", "unknown", "strange", "remarkable")]
    )
    return Value("discovery", (A_TOKEN, kind, draw.pick(members("discovery", for_training))))


def _subject(draw: Draw, _: bool) -> Value:
    return Value("subject", (token(draw.pick(words("names", "subjects")), "NN"),))


_POSTS = [
    tuple(token(*pair.split("/")) for pair in text.split())
    for text in (
        "chief/JJ executive/NN",
        "chair/NN",
        "finance/NN director/NN",
        "head/NN of/IN sales/NNS",
        "president/NN",
    )
]


def _post(draw: Draw, _: bool) -> Value:
    return Value("post", draw.pick(_POSTS))


MAKERS: dict[str, Callable[[Draw, bool], Value]] = {
    "date": _date,
    "oldyear": _old_year,
    "money": _money,
    "count": _count,
    "score": _score,
    "minute": _minute,
    "percent": _percent,
    "product": _product,
    "part": _part,
    "instrument": _instrument,
    "discovery": _discovery,
    "subject": _subject,
    "post": _post,
}
