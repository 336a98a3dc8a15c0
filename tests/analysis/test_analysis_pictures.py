import numpy as np
import pytest

from elmo_bench.analysis.pictures import (
    MAX_POINTS,
    draw_occurrences,
    principal_plane,
    sample_rows,
)


def test_the_plane_has_the_two_greatest_variances():
    points = np.random.default_rng(0).normal(size=(50, 4)) * [1, 10, 0.1, 5]
    placed, _, shares = principal_plane(points)
    assert shares[0] > shares[1]
    assert sum(shares) == pytest.approx((placed**2).sum() / ((points - points.mean(0)) ** 2).sum())
    assert abs(np.corrcoef(placed[:, 0], points[:, 1])[0, 1]) > 0.99


def test_identical_occurrences_fall_on_one_point():
    placed, _, shares = principal_plane(np.ones((5, 3)))
    assert not placed.any()
    assert shares == [0.0, 0.0]


def test_a_single_occurrence_can_be_drawn():
    vectors = {1: np.ones((1, 3), np.float16)}
    assert draw_occurrences("one", vectors, [None]).axes


def test_every_sense_is_in_the_legend_with_its_count():
    vectors = {layer: np.random.default_rng(layer).normal(size=(5, 3)) for layer in (1, 2)}
    query = {1: np.zeros(3), 2: np.zeros(3)}
    figure = draw_occurrences("five", vectors, ["a", "a", "b", None, "b"], query, [4, 0])
    [legend] = figure.legends
    labels = {text.get_text() for text in legend.get_texts()}
    assert labels == {"a (2)", "b (2)", "other or unknown sense", "the query"}


def test_many_occurrences_are_sampled_but_the_nearest_are_always_drawn():
    rows = sample_rows(100_000, [77, 99_998])
    assert {0, 77, 99_998, 99_999} <= set(rows)
    assert len(rows) <= MAX_POINTS + 2
