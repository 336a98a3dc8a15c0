import itertools
from dataclasses import replace

import pytest

from elmo_bench.cli import main
from elmo_bench.records.analysis import write_analysis
from elmo_bench.report.figures.analysis_layers import draw
from tests.report.test_analysis_tables import NEAR, POS, WSD


def test_there_is_a_panel_for_each_analysis_and_corpus():
    titles = {axes.get_title() for axes in draw([WSD, POS, NEAR]).axes}
    assert titles == {"wsd: coarse", "pos: ewt"}


def test_encoders_share_a_panel_if_they_have_one_method_and_the_same_baselines():
    other = replace(POS, bilm="minilm", layers=[{"accuracy": 80.0, "unseen": 60.0}] * 3)
    [axes] = draw([POS, other]).axes
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    assert named[:2] == [POS.bilm, "minilm"]


def test_encoders_with_other_methods_or_baselines_have_panels_of_one_scale():
    another = replace(WSD, settings={"nearest": "instance", "center": False, "window": 0})
    token_layer = replace(WSD, baselines={name: {"f1": 12.0} for name in WSD.baselines})
    for analyses in ([WSD, another], [WSD, token_layer]):
        made = [*analyses, *(replace(a, bilm="minilm") for a in analyses[-1:])]
        first, second = draw(made).axes
        titles = f"wsd: coarse, {WSD.bilm}", "wsd: coarse, minilm"
        assert (first.get_title(), second.get_title()) == titles
        assert first.get_ylim() == second.get_ylim()
        assert "minilm" not in {text.get_text() for text in second.get_legend().get_texts()}


def test_the_legend_names_methods_and_baselines():
    plain = replace(WSD, settings={"nearest": "instance", "center": False, "window": 0})
    [axes] = draw([WSD, plain]).axes
    named = {text.get_text() for text in axes.get_legend().get_texts()}
    assert named == {"nearest sense, centered, window 2", "nearest instance", *WSD.baselines}


def test_lines_go_through_the_scores():
    [axes] = draw([POS]).axes
    assert axes.get_lines()[0].get_ydata().tolist() == [83.0, 90.0]


def test_without_scores_the_error_names_the_commands():
    with pytest.raises(ValueError, match="elmo-bench wsd"):
        draw([NEAR])


def test_compare_plot_and_report_include_the_analyses_beside_the_runs(tmp_path, capsys):
    runs = tmp_path / "runs"
    runs.mkdir()
    for analysis in (WSD, POS, NEAR):
        write_analysis(analysis, tmp_path / "analysis")
    main(["compare", str(runs), "--tables", "analysis", "--format", "md"])
    assert "nearest sense, centered, window 2" in capsys.readouterr().out
    main(["compare", str(runs), "--tables", "analysis", "--format", "md", "--bilm", "another"])
    assert "nearest sense" not in capsys.readouterr().out
    main(["plot", "analysis", str(runs), "-o", str(tmp_path / "layers.svg")])
    assert (tmp_path / "layers.svg").stat().st_size > 5000
    main(["report", str(runs), "-o", str(tmp_path / "page.html")])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "What the layers know" in page
    assert "they [play] ball" in page


def test_thirteen_layers_have_labels_that_do_not_touch():
    [axes] = draw([replace(POS, layers=POS.layers[:1] * 13)]).axes
    axes.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_no_two_methods_look_alike():
    many = [
        replace(WSD, settings={"nearest": nearest, "center": center, "window": window})
        for nearest in ("sense", "instance")
        for center in (False, True)
        for window in (0, 1, 2)
    ]
    [axes] = draw(many).axes
    lines = axes.get_lines()[: len(many)]
    looks = {(line.get_color(), line.get_linestyle()) for line in lines}
    assert len(looks) == len(many)
