from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_bench.data.tags import (
    Span,
    bioul_transitions,
    iob2_transitions,
    read_spans,
    to_bioul,
    to_iob2,
    write_bioul,
    write_iob2,
)

LABELS = ["PER", "C-ARG1"]
IOB2 = ["O", *(f"{prefix}-{label}" for label in LABELS for prefix in "BI")]
BIOUL = ["O", *(f"{prefix}-{label}" for label in LABELS for prefix in "BILU")]


@st.composite
def span_lists(draw):
    bounds = sorted(draw(st.sets(st.integers(0, 12))))
    pairs = [pair for pair in pairwise(bounds) if draw(st.booleans())]
    return [Span(draw(st.sampled_from(LABELS)), *pair) for pair in pairs]


def is_allowed(tags, names, transitions):
    ids = [names.index(tag) for tag in tags]
    inner = all(transitions.between[before][after] for before, after in pairwise(ids))
    return transitions.start[ids[0]] and inner and transitions.end[ids[-1]]


@given(span_lists())
def test_spans_survive_a_round_trip_through_both_schemes(spans):
    assert read_spans(write_iob2(spans, 12)) == spans
    assert read_spans(write_bioul(spans, 12)) == spans


@given(span_lists())
def test_written_tags_are_allowed_by_their_scheme(spans):
    assert is_allowed(write_iob2(spans, 12), IOB2, iob2_transitions(IOB2))
    assert is_allowed(write_bioul(spans, 12), BIOUL, bioul_transitions(BIOUL))


@given(st.lists(st.sampled_from(IOB2), min_size=1, max_size=6))
def test_a_sequence_is_allowed_in_iob2_exactly_when_rewriting_keeps_it(tags):
    assert is_allowed(tags, IOB2, iob2_transitions(IOB2)) == (to_iob2(tags) == tags)


@given(st.lists(st.sampled_from(BIOUL), min_size=1, max_size=6))
def test_a_sequence_is_allowed_in_bioul_exactly_when_rewriting_keeps_it(tags):
    assert is_allowed(tags, BIOUL, bioul_transitions(BIOUL)) == (to_bioul(tags) == tags)


def test_iob1_is_read_as_conlleval_reads_it():
    tags = ["I-PER", "I-PER", "B-PER", "I-LOC", "O", "I-LOC"]
    assert to_iob2(tags) == ["B-PER", "I-PER", "B-PER", "B-LOC", "O", "B-LOC"]
    assert to_bioul(tags) == ["B-PER", "L-PER", "U-PER", "U-LOC", "O", "U-LOC"]


@pytest.mark.parametrize("span", [Span("PER", 1, 1), Span("PER", 2, 4), Span("PER", 0, 2)])
def test_spans_that_cannot_be_written_are_an_error(span):
    with pytest.raises(ValueError, match=f"{span.start}:{span.end}"):
        write_bioul([Span("LOC", 1, 2), span], 3)
