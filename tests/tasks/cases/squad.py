from elmo_bench.data.example import Example
from elmo_bench.tasks.squad.data import SquadTarget, parse
from tests.tasks.building import Case

_YORK = "Ann lives in York. She has two cats."
_CLUB = "The club won in 1999, its best year so far."


def _question(paragraph: str, question: str, answer: str, first: int, last: int) -> Example:
    new = parse(f"{paragraph} ||| {question}")
    target = SquadTarget(new.target.context, new.target.offsets, (answer,), ((first, last),))
    assert target.text(first, last) == answer
    return new._replace(target=target)


EXAMPLES = [
    _question(_YORK, "Where does Ann live?", "York", 3, 3),
    _question(_YORK, "How many cats does she have?", "two", 7, 7),
    _question(_CLUB, "When did the club win?", "1999", 4, 4),
    _question(_CLUB, "What was 1999?", "its best year", 6, 8),
]

CASE = Case(
    sizes={"hidden_dim": 12, "char_filters": [[5, 8]]},
    examples=EXAMPLES,
    mistaken=[[3, 3], [6, 7], [0, 0], [7, 8]],
)
