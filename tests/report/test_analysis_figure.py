from dataclasses import replace

import pytest

from elmo_bench.report.figures.analyses import draw
from tests.report.test_analysis_tables import NEAR, POS, WSD


def test_there_is_a_panel_for_each_analysis_and_corpus():
    titles = {axes.get_title() for axes in draw([WSD, POS, NEAR]).axes}
    assert titles == {"wsd: coarse", "pos: ewt"}


def test_methods_and_baselines_are_named():
    plain = replace(WSD, settings={"nearest": "instance", "centre": False, "window": 0})
    [axes] = draw([WSD, plain]).axes
    named = {text.get_text() for text in axes.get_legend().get_texts()}
    assert named == {"nearest sense, centred, window 2", "nearest instance", *WSD.baselines}


def test_lines_go_through_the_scores():
    [axes] = draw([POS]).axes
    assert axes.get_lines()[0].get_ydata().tolist() == [83.0, 90.0]


def test_without_scores_the_commands_are_told():
    with pytest.raises(ValueError, match="elmo-bench wsd"):
        draw([NEAR])
