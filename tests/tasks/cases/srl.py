from elmo_bench.data.example import Example
from elmo_bench.tasks.srl.data import SrlTarget
from tests.tasks.building import Case

_DOG = ("Ann", "said", "that", "the", "old", "dog", "chased", "it")
EXAMPLES = [
    Example("a:0:1", (_DOG,), SrlTarget(1, ((0, 0, "ARG0"), (1, 1, "V"), (2, 7, "ARG1")))),
    Example("a:1:1", (("dogs", "bark"),), SrlTarget(1, ((0, 0, "ARG0"), (1, 1, "V")))),
    Example("a:0:6", (_DOG,), SrlTarget(6, ((3, 5, "ARG0"), (6, 6, "V"), (7, 7, "ARG1")))),
]

CASE = Case(
    sizes={"predicate_dim": 4, "hidden_dim": 16, "num_layers": 3},
    examples=EXAMPLES,
    mistaken=[[[0, 0, "ARG0"]], [[0, 1, "ARG0"]], [[3, 5, "ARG0"], [6, 7, "C-ARG0"]]],
)
