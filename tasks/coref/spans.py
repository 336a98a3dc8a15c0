"""Candidate spans of a document: listing them, pruning them, linking them into clusters."""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

Span = tuple[int, int]  # first and last word, counted over the document


def candidates(
    sentences: Int[Tensor, " word"], max_width: int
) -> tuple[Int[Tensor, " span"], Int[Tensor, " span"]]:
    """Return the first word of every span within a sentence, and how many words follow it.

    Args:
        sentences: The sentence of each word.
        max_width: Maximum number of words in a span.
    """
    beyond = nn.functional.pad(sentences, (0, max_width - 1), value=-1).unfold(0, max_width, 1)
    starts, following = (beyond == sentences.unsqueeze(1)).nonzero(as_tuple=True)
    return starts, following


def head_attention(
    scores: Float[Tensor, " word"], max_width: int
) -> Float[Tensor, "word width offset"]:
    """Weight of each word in a span, for spans of every width that start at every word."""
    following = nn.functional.pad(scores, (0, max_width - 1)).unfold(0, max_width, 1)
    outside = torch.ones(max_width, max_width, dtype=torch.bool, device=scores.device).triu(1)
    return following.unsqueeze(1).masked_fill(outside, float("-inf")).softmax(dim=2)


def following_words(
    words: Float[Tensor, "word dim"], max_width: int
) -> Float[Tensor, "word offset dim"]:
    """Each word and those after it, as a view; zeros beyond the end of the document."""
    padded = nn.functional.pad(words, (0, 0, 0, max_width - 1))
    return padded.unfold(0, max_width, 1).transpose(1, 2)


def prune(
    starts: Sequence[int], ends: Sequence[int], scores: Float[Tensor, " span"], count: int
) -> list[int]:
    """Return the best spans of which no two cross, in text order.

    Two spans cross when they overlap and neither contains the other.
    """
    last_end: dict[int, int] = {}  # of the spans kept so far, by their first word
    first_start: dict[int, int] = {}  # the same by their last word
    kept = []
    for index in scores.argsort(descending=True, stable=True).tolist():
        start, end = starts[index], ends[index]
        if any(last_end.get(word, end) > end for word in range(start + 1, end + 1)):
            continue
        if any(first_start.get(word, start) < start for word in range(start, end)):
            continue
        last_end[start] = max(end, last_end.get(start, end))
        first_start[end] = min(start, first_start.get(end, start))
        kept.append(index)
        if len(kept) == count:
            break
    return sorted(kept, key=lambda index: (starts[index], ends[index]))


def cluster_numbers(spans: Iterable[Span], clusters: Sequence[Sequence[Span]]) -> list[int]:
    """Return the gold cluster of each span, from 1; 0 for none. Of two, the first counts."""
    number: dict[Span, int] = {}
    for index, cluster in enumerate(clusters, start=1):
        for mention in cluster:
            number.setdefault(mention, index)
    return [number.get(span, 0) for span in spans]


def linked(spans: Sequence[Span], antecedents: Sequence[int | None]) -> list[list[list[int]]]:
    """Return the clusters that result when each span joins its antecedent, an earlier span."""
    clusters: dict[int, list[int]] = {}  # the cluster of each span that has one
    for index, antecedent in enumerate(antecedents):
        if antecedent is not None:
            cluster = clusters.setdefault(antecedent, [antecedent])
            cluster.append(index)
            clusters[index] = cluster
    distinct = {id(cluster): cluster for cluster in clusters.values()}
    return [[list(spans[index]) for index in cluster] for cluster in distinct.values()]
