"""MUC, B-cubed and CEAFe as computed by the CoNLL reference scorer (scorer.pl v8.01).

Numerators and denominators are summed over all documents before dividing. Singletons, and mentions
that only one side has, count as they are: nothing is added or removed for them. The scorer prints
percentages truncated to two decimals; these are not truncated.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from elmo_bench.errors import UserError
from elmo_bench.metrics.checks import field
from elmo_bench.metrics.ratios import Ratio, precision_recall_f1

Span = tuple[int, int]
Cluster = list[Span]
METRICS = ("muc", "b3", "ceafe")
MOST_REPEATS = 10  # scorer.pl refuses to score more


def score_coref(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The three metrics over all documents, and `conll_f1`, the mean of their F1.

    A document is `{"sentences": [[word, ...], ...], "gold": clusters, "pred": clusters}`; a
    cluster is a list of `[start, end_inclusive]` token offsets counted over the document. As in
    scorer.pl, a repeated predicted mention that is in gold keeps only its first copy (at most 10
    repeats in total); one that is not in gold keeps all its copies.
    """
    totals = np.zeros((len(METRICS), 4))
    repeats = 0
    for index, document in enumerate(documents):
        gold, pred, dropped = _sides(document, f"document {index}")
        repeats += dropped
        if repeats > MOST_REPEATS:
            raise UserError(
                f"document {index}: more than {MOST_REPEATS} repeated mentions in pred so far; "
                f"the official scorer refuses to score such output"
            )
        totals += _count(gold, pred)
    scores: dict[str, Any] = {}
    for metric, (right_pred, n_pred, right_gold, n_gold) in zip(
        METRICS, totals.tolist(), strict=True
    ):
        scores[metric] = precision_recall_f1(Ratio(right_pred, n_pred), Ratio(right_gold, n_gold))
    scores["conll_f1"] = sum(scores[metric]["f1"] for metric in METRICS) / len(METRICS)
    return scores


def count_coref(document: Mapping[str, Any]) -> list[tuple[float, float, float, float]]:
    """One document's counts for each metric: numerator and denominator of precision and recall."""
    gold, pred, _ = _sides(document, "document")
    muc, b3, ceafe = map(tuple, _count(gold, pred).tolist())
    return [muc, b3, ceafe]


def _sides(document: Mapping[str, Any], place: str) -> tuple[list[Cluster], list[Cluster], int]:
    """Gold and pred clusters as counted, and the number of repeated mentions dropped from pred."""
    length = sum(len(words) for words in field(document, "sentences", place))
    gold = _clusters_in_text_order(document, "gold", length, place)
    pred = _clusters_in_text_order(document, "pred", length, place)
    pred, dropped = _without_repeats(gold, pred)
    return gold, pred, dropped


def _count(gold: list[Cluster], pred: list[Cluster]) -> np.ndarray:
    """Counts of one document: a row per metric with numerator and denominator of P, then of R."""
    homes: dict[Span, list[int]] = {}  # all gold clusters of a mention; in valid data there is one
    for number, cluster in enumerate(gold):
        for mention in cluster:
            homes.setdefault(mention, []).append(number)

    links = b3_precision = b3_recall = 0.0
    similarity = np.zeros((len(gold), len(pred)))
    for column, cluster in enumerate(pred):
        overlap = Counter(home for mention in cluster for home in homes.get(mention, ()))
        # If gold repeats a mention, scorer.pl assigns it to its last cluster.
        twins = Counter(homes[mention][-1] for mention in cluster if mention in homes)
        for home, count in twins.items():
            links += count - 1
            b3_precision += count * overlap[home] / len(cluster)
            b3_recall += count * overlap[home] / len(gold[home])
        for home, shared in overlap.items():
            similarity[home, column] = 2 * shared / (len(gold[home]) + len(cluster))

    n_gold, n_pred = sum(map(len, gold)), sum(map(len, pred))
    aligned = _best_alignment(similarity)
    return np.array(
        [
            (links, n_pred - len(pred), links, n_gold - len(gold)),
            (b3_precision, n_pred, b3_recall, n_gold),
            (aligned, len(pred), aligned, len(gold)),
        ]
    )


def _best_alignment(similarity: np.ndarray) -> float:
    """Largest sum of similarities if each cluster is paired with at most one of the other side."""
    if not similarity.any():
        return 0.0
    from scipy.optimize import linear_sum_assignment  # takes half a second to import

    return float(similarity[linear_sum_assignment(similarity, maximize=True)].sum())


def _without_repeats(gold: list[Cluster], pred: list[Cluster]) -> tuple[list[Cluster], int]:
    """Keep only the first copy of mentions that are in gold; also return how many were dropped."""
    gold_mentions = {mention for cluster in gold for mention in cluster}
    seen: set[Span] = set()
    kept = []
    for cluster in pred:
        remaining = []
        for mention in cluster:
            if mention not in seen:
                remaining.append(mention)
            if mention in gold_mentions:
                seen.add(mention)
        kept.append(remaining)
    dropped = sum(map(len, pred)) - sum(map(len, kept))
    return [cluster for cluster in kept if cluster], dropped


def _clusters_in_text_order(
    document: Mapping[str, Any], side: str, length: int, place: str
) -> list[Cluster]:
    """The clusters of one side, checked, in the order in which scorer.pl reads them.

    It reads a cluster where its first mention opens; at the same token, one-word mentions come
    first, then outer brackets before inner ones.
    """
    clusters = []
    for cluster in field(document, side, place):
        spans = [tuple(mention) for mention in cluster]
        for span in spans:
            if len(span) != 2 or not 0 <= span[0] <= span[1] < length:
                raise UserError(
                    f"{place}: the {side} mention {list(span)} is not a [start, end] "
                    f"span within {length} words"
                )
        if side == "gold" and len(set(spans)) < len(spans):
            raise UserError(f"{place}: a gold cluster repeats a mention: {cluster}")
        if spans:
            clusters.append(spans)
    return sorted(
        clusters,
        key=lambda spans: min((start, start != end, -end) for start, end in spans),
    )
