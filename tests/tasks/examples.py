"""A few examples of each task, for tests of models and metrics."""

from elmo_bench.data.example import Example
from elmo_bench.tasks.coref.data import CorefTarget
from elmo_bench.tasks.squad.data import SquadTarget, parse
from elmo_bench.tasks.srl.data import SrlTarget

NER = [
    Example("1", (("Ann", "met", "New", "York", "."),), ("B-PER", "O", "B-LOC", "I-LOC", "O")),
    Example("2", (("York", "won"),), ("B-ORG", "O")),
    Example("3", (("Nothing", "happened", "today"),), ("O", "O", "O")),
]

_TEXTS = ("a lovely film", "no fun at all , none", "it is a film", "dull", "so very very good")
SST5 = [Example(str(label), (tuple(text.split()),), label) for label, text in enumerate(_TEXTS)]

_PREMISE = "two young dogs run over a green field near the sea"
_PAIRS = (
    (_PREMISE, "dogs run", "entailment"),
    (_PREMISE, "dogs sleep", "contradiction"),
    ("a boy sings", "a happy boy sings a long song", "neutral"),
    ("no one", "one", "contradiction"),
)
SNLI = [
    Example(str(number), (tuple(premise.split()), tuple(hypothesis.split())), label)
    for number, (premise, hypothesis, label) in enumerate(_PAIRS)
]

_YORK = "Ann lives in York. She has two cats."
_CLUB = "The club won in 1999, its best year so far."


def _question(paragraph: str, question: str, answer: str, first: int, last: int) -> Example:
    new = parse(f"{paragraph} ||| {question}")
    target = SquadTarget(new.target.context, new.target.offsets, (answer,), ((first, last),))
    assert target.text(first, last) == answer
    return new._replace(target=target)


SQUAD = [
    _question(_YORK, "Where does Ann live?", "York", 3, 3),
    _question(_YORK, "How many cats does she have?", "two", 7, 7),
    _question(_CLUB, "When did the club win?", "1999", 4, 4),
    _question(_CLUB, "What was 1999?", "its best year", 6, 8),
]

_DOG = ("Ann", "said", "that", "the", "old", "dog", "chased", "it")
SRL = [
    Example("a:0:1", (_DOG,), SrlTarget(1, ((0, 0, "ARG0"), (1, 1, "V"), (2, 7, "ARG1")))),
    Example("a:1:1", (("dogs", "bark"),), SrlTarget(1, ((0, 0, "ARG0"), (1, 1, "V")))),
    Example("a:0:6", (_DOG,), SrlTarget(6, ((3, 5, "ARG0"), (6, 6, "V"), (7, 7, "ARG1")))),
]

_MET, _LEFT = ("Ann", "met", "her", "friend", "."), ("She", "left", ".")
_CLUSTERS = (((0, 0), (2, 2), (5, 5)), ((3, 3), (10, 10)))
_SPEAKERS = ("x",) * 8 + ("y",) * 3
COREF = [
    Example(
        "a_0",
        (_MET, _LEFT, ("The", "old", "friend")),
        CorefTarget("bc/a", 0, "bc", _SPEAKERS, _CLUSTERS),
    ),
    Example("b_1", (_LEFT, _LEFT), CorefTarget("b", 1, "none", ("-",) * 6, (((0, 0), (3, 3)),))),
]

EXAMPLES = {"ner": NER, "sst5": SST5, "snli": SNLI, "squad": SQUAD, "srl": SRL, "coref": COREF}
