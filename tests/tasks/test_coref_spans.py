import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_bench.tasks.coref.spans import (
    candidates,
    cluster_numbers,
    following_words,
    head_attention,
    linked,
    prune,
)


def test_candidates_are_all_short_spans_within_a_sentence():
    sentences = [0, 0, 0, 1, 1]
    starts, following = candidates(torch.tensor(sentences), max_width=2)
    expected = {(s, e) for s in range(5) for e in (s, s + 1) if e < 5}
    expected = {(s, e) for s, e in expected if sentences[s] == sentences[e]}
    assert set(zip(starts.tolist(), (starts + following).tolist(), strict=True)) == expected


def test_a_span_attends_only_to_its_own_words():
    scores, words = torch.randn(7), torch.randn(7, 4)
    heads = head_attention(scores, 3) @ following_words(words, 3)
    for start in range(7):
        for width in range(1, min(3, 7 - start) + 1):
            inside = slice(start, start + width)
            expected = scores[inside].softmax(0) @ words[inside]
            torch.testing.assert_close(heads[start, width - 1], expected)


def cross(one, other):
    (a, b), (c, d) = sorted([one, other])
    return a < c <= b < d


SPANS = st.tuples(st.integers(0, 15), st.integers(0, 5)).map(lambda s: (s[0], s[0] + s[1]))


@given(st.lists(SPANS, min_size=1, unique=True), st.integers(1, 12), st.integers(0, 99))
def test_pruning_equals_a_plain_greedy_search(spans, count, seed):
    scores = torch.rand(len(spans), generator=torch.Generator().manual_seed(seed))
    expected = []
    for index in sorted(range(len(spans)), key=lambda i: -scores[i].item()):
        if len(expected) < count and not any(cross(spans[index], spans[k]) for k in expected):
            expected.append(index)
    kept = prune(*zip(*spans, strict=True), scores, count)
    assert kept == sorted(expected, key=lambda index: spans[index])


def test_a_span_in_two_clusters_counts_for_the_first():
    clusters = [[(0, 0), (2, 3)], [(2, 3), (5, 5)]]
    assert cluster_numbers([(2, 3), (5, 5), (9, 9)], clusters) == [1, 2, 0]


@pytest.mark.parametrize(
    ("antecedents", "clusters"),
    [
        ([None, None, None, None], []),
        ([None, 0, None, 1], [[[0, 0], [1, 1], [3, 3]]]),
        ([None, None, 1, 0], [[[1, 1], [2, 2]], [[0, 0], [3, 3]]]),
    ],
)
def test_links_are_followed_to_whole_clusters(antecedents, clusters):
    assert linked([(n, n) for n in range(4)], antecedents) == clusters
