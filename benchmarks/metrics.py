"""Seconds that each metric takes on synthetic predictions as large as its test set.

Run as `python benchmarks/metrics.py`. The libraries that a metric imports on its first call
(scikit-learn behind seqeval, scipy) are loaded before the timer starts.
"""

import random
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from elmo_bench.metrics import accuracy, score_coref, score_ner, score_squad, score_srl

WORDS = [f"word{i}" for i in range(2000)]


def tagged_sentences(rng: random.Random, count: int) -> list[list[str]]:
    """Sentences of 8 to 20 tags, one in five inside a phrase, legal or not."""
    tags = ["O"] * 16 + ["B-PER", "I-PER", "B-LOC", "I-LOC"]
    return [rng.choices(tags, k=8 + i % 13) for i in range(count)]


def propositions(rng: random.Random, count: int) -> list[dict[str, Any]]:
    """Sentences of 20 words with two predicates of four arguments each."""
    labels = ["A0", "A1", "A2", "C-A1", "R-A0", "AM-TMP"]
    return [
        {
            "words": WORDS[:20],
            "propositions": [
                {
                    "predicate": predicate,
                    "args": [
                        [s, s + rng.randint(0, 3), rng.choice(labels)] for s in (0, 6, 11, 16)
                    ],
                }
                for predicate in (5, 10)
            ],
        }
        for _ in range(count)
    ]


def coreference_documents(rng: random.Random, count: int, length: int) -> list[dict[str, Any]]:
    """Documents with a mention at every fourth word; a tenth of the predictions are wrong."""
    documents = []
    for _ in range(count):
        sides: list[dict[int, list[list[int]]]] = [{}, {}]
        for start in range(0, length - 3, 4):
            mention = [start, start + rng.randint(0, 2)]
            cluster = rng.randrange(length // 15)
            sides[0].setdefault(cluster, []).append(mention)
            if rng.random() < 0.1:
                cluster = rng.randrange(length // 15)
            sides[1].setdefault(cluster, []).append(mention)
        gold, pred = (list(clusters.values()) for clusters in sides)
        documents.append({"sentences": [["word"] * length], "gold": gold, "pred": pred})
    return documents


def answers(rng: random.Random, count: int) -> list[str]:
    return [" ".join(["the", *rng.choices(WORDS, k=rng.randint(1, 6))]) for _ in range(count)]


def seconds(score: Callable[[], Any]) -> float:
    start = time.perf_counter()
    score()
    return time.perf_counter() - start


def main() -> None:
    rng = random.Random(0)
    gold_tags, pred_tags = (tagged_sentences(rng, 3500) for _ in range(2))
    gold_props, pred_props = (propositions(rng, 10_000) for _ in range(2))
    documents = coreference_documents(rng, 350, 450)
    questions = [f"q{i}" for i in range(10_000)]
    references = {q: answers(rng, 3) for q in questions}
    predictions = dict(zip(questions, answers(rng, len(questions)), strict=True))
    labels = rng.choices(range(5), k=10_000)

    score_ner(gold_tags[:1], pred_tags[:1])
    score_coref(documents[:1])
    rows: list[tuple[str, str, int, Callable[[], Any]]] = [
        ("score_ner", "sentences", len(gold_tags), lambda: score_ner(gold_tags, pred_tags)),
        ("score_srl", "sentences", len(gold_props), lambda: score_srl(gold_props, pred_props)),
        ("score_coref", "documents of 450 words", len(documents), lambda: score_coref(documents)),
        ("score_squad", "answers", len(questions), lambda: score_squad(references, predictions)),
        ("accuracy", "labels", len(labels), lambda: accuracy(labels, labels)),
    ]
    table = Table("metric", "items", "", "seconds", "items/s", title="Metrics on synthetic data")
    for name, unit, count, score in rows:
        taken = seconds(score)
        table.add_row(name, f"{count:,}", unit, f"{taken:.3f}", f"{count / taken:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
