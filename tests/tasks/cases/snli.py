from elmo_bench.data.example import Example
from tests.tasks.building import Case

_PREMISE = "two young dogs run over a green field near the sea"
_PAIRS = (
    (_PREMISE, "dogs run", "entailment"),
    (_PREMISE, "dogs sleep", "contradiction"),
    ("a boy sings", "a happy boy sings a long song", "neutral"),
    ("no one", "one", "contradiction"),
)
EXAMPLES = [
    Example(str(number), (tuple(premise.split()), tuple(hypothesis.split())), label)
    for number, (premise, hypothesis, label) in enumerate(_PAIRS)
]

CASE = Case(
    sizes={
        "hidden_dim": 8,
        "input_dropout": 0.1,
        "head_dropout": 0.1,
        "elmo_attention_dropout": 0.1,
        "elmo_weight_l2": 1e-4,
    },
    examples=EXAMPLES,
    mistaken=["entailment", "neutral", "neutral", "neutral"],
)
