"""A few lines in the format of every corpus, and the reader of each."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import elmo_bench.tasks.ner.data
import elmo_bench.tasks.snli.data
import elmo_bench.tasks.squad.data
import elmo_bench.tasks.srl.data
import elmo_bench.tasks.sst5.data
from elmo_bench.data.example import Example, Skipped
from elmo_bench.tasks.coref.data import read as read_coref
from elmo_bench.tasks.coref.data import resolution

NER = """-DOCSTART- -X- -X- O

EU NNP I-NP I-ORG
rejects VBZ I-VP O
German JJ I-NP I-MISC
calls NNS I-NP O

Peter NNP I-NP I-PER
Blackburn NNP I-NP I-PER
"""
SST5 = """(3 (2 It) (4 (4 (2 's) (4 (2 a) (4 (3 lovely) (2 film)))) (2 .)))
(1 (2 No) (1 (1 fun) (2 .)))
"""
_PAIRS = [
    {
        "gold_label": "entailment",
        "pairID": "1.jpg#0",
        "sentence1": "Two dogs run (fast).",
        "sentence1_binary_parse": "( ( Two dogs ) ( ( run ( -LRB- ( fast -RRB- ) ) ) . ) )",
        "sentence2": "Dogs don't sit.",
    },
    {"gold_label": "-", "sentence1": "A man sleeps.", "sentence2": "A man dreams."},
    {"gold_label": "neutral", "sentence1": "A boy sings.", "sentence2": "He's happy."},
]
SNLI = "".join(json.dumps(pair) + "\n" for pair in _PAIRS)
_CONTEXT = "Ada was born in 1815-1816. She wrote “skipped” in London."
_QUESTIONS = [
    {
        "id": "q1",
        "question": "Where did she write?",
        "answers": [{"text": "London", "answer_start": _CONTEXT.index("London")}],
    },
    {
        "id": "q2",
        "question": "When was she born?",
        "answers": [
            {"text": "1815", "answer_start": 16},
            {"text": "1815-1816", "answer_start": 16},
            {"text": "815", "answer_start": 17},
        ],
    },
]
SQUAD = json.dumps(
    {
        "version": "1.1",
        "data": [{"title": "Ada", "paragraphs": [{"context": _CONTEXT, "qas": _QUESTIONS}]}],
    },
    indent=1,
)
SRL = """#begin document (nw/a/00/a_0001); part 000
nw/a/00/a_0001 0 0 Dogs NNS * - - - - * (ARG0*) (ARG0*) -
nw/a/00/a_0001 0 1 chase VBP * chase 01 - - * (V*) * -
nw/a/00/a_0001 0 2 big JJ * - - - - * (ARG1* * -
nw/a/00/a_0001 0 3 cats NNS * - - - - * *) * -
nw/a/00/a_0001 0 4 on IN * - - - - * * (ARG2* -
nw/a/00/a_0001 0 5 sight NN * see 01 - - * * (V*)) -
nw/a/00/a_0001 0 6 . . * - - - - * * * -

nw/a/00/a_0001 0 0 Quiet JJ * - - - - * -

#end document
"""
COREF = """#begin document (bc/x/00/x_0001); part 000
bc/x/00/x_0001 0 0 Ann NNP * - - - Bob * (1)
bc/x/00/x_0001 0 1 's POS * - - - Bob * -
bc/x/00/x_0001 0 2 dog NN * - - - Bob * (2)

bc/x/00/x_0001 0 0 She PRP * - - - Eve * (1)
bc/x/00/x_0001 0 1 likes VBZ * - - - Eve * -
bc/x/00/x_0001 0 2 her PRP$ * - - - Eve * (2|(1)|(3
bc/x/00/x_0001 0 3 dog NN * - - - Eve * 2)|3)

#end document
#begin document (bc/x/00/x_0001); part 001
bc/x/00/x_0001 1 0 Yes UH * - - - Bob * -

#end document
"""

TEXTS = {"ner": NER, "sst5": SST5, "snli": SNLI, "squad": SQUAD, "srl": SRL, "coref": COREF}

READERS: dict[str, Callable[[Path, Skipped], Iterator[Example]]] = {
    "ner": lambda path, skipped: elmo_bench.tasks.ner.data.read(path),
    "sst5": lambda path, skipped: elmo_bench.tasks.sst5.data.read(path, "train", 1, skipped),
    "snli": elmo_bench.tasks.snli.data.read,
    "squad": lambda path, skipped: elmo_bench.tasks.squad.data.read(path, "train", None, skipped),
    "srl": lambda path, skipped: elmo_bench.tasks.srl.data.read(path, True, skipped),
    "coref": lambda path, skipped: read_coref(path, resolution("dev", skipped)),
}


def read_text(task: str, path: Path, text: str | None = None) -> tuple[list[Example], Skipped]:
    """Write a text (by default the task's sample) to a file and read it back."""
    skipped: Skipped = Counter()
    path.write_text(TEXTS[task] if text is None else text, encoding="utf-8")
    return list(READERS[task](path, skipped)), skipped
