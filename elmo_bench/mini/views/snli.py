"""Pairs of sentences: the second follows from the first, contradicts it, or is left open by it.

The hypothesis is drawn first, in the same way for all labels; then the premise is made to fit the
label. So nothing in the hypothesis alone reveals the label.
"""

import json
from collections.abc import Iterator
from typing import Any

from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tree import Sentence, Token, plain_text
from elmo_bench.mini.views.fact_pairs import FactPairs
from elmo_bench.mini.views.scene_pairs import LABELS, ScenePairs

SCENES = 0.6  # share of pairs about scenes; the others are about facts with names
UNDECIDED = 0.015  # share of pairs without a majority among annotators


def snli_lines(teller: Teller, count: int) -> Iterator[str]:
    """One pair per line, with the fields of SNLI 1.0."""
    draw = teller.draw
    scenes, facts = ScenePairs(teller), FactPairs(teller)
    for number in range(count):
        label = draw.pick(LABELS)
        premise, hypothesis = (scenes if draw.chance(SCENES) else facts).pair(label)
        undecided = draw.chance(UNDECIDED)
        row = _row(f"{teller.part}{number}", label, premise, hypothesis, undecided)
        yield json.dumps(row, ensure_ascii=False)


def _row(
    name: str, label: str, premise: Sentence, hypothesis: Sentence, undecided: bool
) -> dict[str, Any]:
    others = [other for other in LABELS if other != label]
    return {
        "annotator_labels": [label, label, *others, others[0]] if undecided else [label] * 5,
        "captionID": f"{name}.jpg#0",
        "gold_label": "-" if undecided else label,
        "pairID": name,
        "sentence1": plain_text(premise.tokens)[0],
        "sentence1_binary_parse": binary_parse(premise),
        "sentence2": plain_text(hypothesis.tokens)[0],
        "sentence2_binary_parse": binary_parse(hypothesis),
    }


def binary_parse(sentence: Sentence) -> str:
    """`( ( A man ) ( is ( asleep . ) ) )`, branching to the right."""
    words = iter(sentence.words)
    following = [next(words)]

    def build(node: Any) -> list[str]:
        if isinstance(node, Token):
            if not node.pos or (node.word == "," and following[0] != ","):
                return []  # takes no position, or was dropped before other punctuation
            found, following[0] = following[0], next(words, "")
            return [found]
        parts = [part for kid in node.kids for part in build(kid)]
        while len(parts) > 1:
            parts[-2:] = [f"( {parts[-2]} {parts[-1]} )"]
        return parts

    return build(sentence.root)[0]
