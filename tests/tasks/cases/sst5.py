from elmo_bench.data.example import Example
from tests.tasks.building import Case

_TEXTS = ("a lovely film", "no fun at all , none", "it is a film", "dull", "so very very good")
EXAMPLES = [Example(str(label), (tuple(text.split()),), label) for label, text in enumerate(_TEXTS)]

CASE = Case(
    sizes={
        "hidden_dim": 12,
        "embedding_dropout": 0.1,
        "elmo_embedding_dropout": 0.1,
        "feedforward_dropout": 0.1,
        "head_dims": [16, 12],
        "head_dropout": [0.1, 0.0, 0.0],
    },
    examples=EXAMPLES,
    mistaken=[0, 1, 1, 1, 4],
    variants=[{}, {"head": "maxout"}, {"elmo_output": "encoder"}],
)
