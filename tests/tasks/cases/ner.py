from elmo_bench.data.example import Example
from tests.tasks.building import Case

EXAMPLES = [
    Example("1", (("Ann", "met", "New", "York", "."),), ("B-PER", "O", "B-LOC", "I-LOC", "O")),
    Example("2", (("York", "won"),), ("B-ORG", "O")),
    Example("3", (("Nothing", "happened", "today"),), ("O", "O", "O")),
]

CASE = Case(
    sizes={"hidden_dims": [16, 12], "dropout": 0.2},
    examples=EXAMPLES,
    variants=[{}, {"boundary_transitions": True}],
    mistaken=[["B-PER", "O", "O", "B-LOC", "O"], ["B-ORG", "O"], ["O", "B-ORG", "O"]],
)
