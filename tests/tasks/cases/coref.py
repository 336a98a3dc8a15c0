from elmo_bench.data.example import Example
from elmo_bench.tasks.coref.data import CorefTarget
from tests.tasks.building import Case

_MET, _LEFT = ("Ann", "met", "her", "friend", "."), ("She", "left", ".")
_CLUSTERS = (((0, 0), (2, 2), (5, 5)), ((3, 3), (10, 10)))
_SPEAKERS = ("x",) * 8 + ("y",) * 3
EXAMPLES = [
    Example(
        "a_0",
        (_MET, _LEFT, ("The", "old", "friend")),
        CorefTarget("bc/a", 0, "bc", _SPEAKERS, _CLUSTERS),
    ),
    Example("b_1", (_LEFT, _LEFT), CorefTarget("b", 1, "none", ("-",) * 6, (((0, 0), (3, 3)),))),
]

CASE = Case(
    sizes={
        "char_filters": [[3, 6]],
        "hidden_dim": 8,
        "scorer_dim": 12,
        "feature_dim": 3,
        "max_width": 4,
        "spans_per_word": 2.0,
        "lexical_dropout": 0.1,
        "dropout": 0.1,
    },
    examples=EXAMPLES,
    mistaken=[[[[0, 0], [5, 5]], [[2, 2], [8, 10], [10, 10]]], [[[0, 0], [3, 3]]]],
)
