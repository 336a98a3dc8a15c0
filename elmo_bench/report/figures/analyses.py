"""What each layer knows: scores over layers, the baselines as level lines."""

from collections import defaultdict

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elmo_bench.records.analysis import Analysis
from elmo_bench.report.analysis_tables import method_words
from elmo_bench.report.figures.style import LAYER_COLORS, LAYER_DASHES, new_figure
from elmo_bench.report.weights import layer_name

EMPTY = "no analysis with scores: `elmo-bench wsd BILM` and `elmo-bench pos BILM` make some"
MARKERS = ["o", "^", "s", "D", "v", "P", "X"]  # not as many as colors: no two lines look alike
PER_LINE = 3
GREYS = ["#404040", "#707070", "#9a9a9a"]


def draw(analyses: list[Analysis]) -> Figure:
    """A panel for each analysis and corpus, a line for each biLM and method."""
    panels: dict[tuple[str, str], list[Analysis]] = defaultdict(list)
    for analysis in analyses:
        if analysis.metric:
            panels[analysis.analysis, analysis.data].append(analysis)
    if not panels:
        raise ValueError(EMPTY)
    columns = min(len(panels), PER_LINE)
    lines = -(-len(panels) // columns)
    figure = new_figure(0.4 + 3.3 * columns, 0.2 + 3.6 * lines)
    grid = figure.subplots(lines, columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, ((name, data), some) in zip(grid.flat, sorted(panels.items()), strict=False):
        _draw_panel(axes, some)
        axes.set(title=f"{name}: {data}", ylabel=f"{some[0].metric}, %")
    return figure


def _draw_panel(axes: Axes, analyses: list[Analysis]) -> None:
    depth = max(len(analysis.layers) for analysis in analyses)
    several = len({analysis.bilm for analysis in analyses}) > 1
    for place, analysis in enumerate(sorted(analyses, key=lambda a: (a.bilm, method_words(a)))):
        scores = [layer[analysis.metric] for layer in analysis.layers]
        parts = [analysis.bilm, method_words(analysis)] if several else [method_words(analysis)]
        axes.plot(
            range(len(scores)), scores, marker=MARKERS[place % len(MARKERS)],
            color=LAYER_COLORS[(place + 1) % len(LAYER_COLORS)],
            linestyle=LAYER_DASHES[(place + 1) % len(LAYER_DASHES)],
            label=", ".join(filter(None, parts)) or analysis.bilm,
        )  # fmt: skip
    best = {
        name: max(a.baselines[name][a.metric] for a in analyses if name in a.baselines)
        for analysis in analyses
        for name in analysis.baselines
    }
    for place, (name, score) in enumerate(best.items()):
        axes.axhline(
            score, color=GREYS[place % len(GREYS)], lw=1, ls=LAYER_DASHES[place % 4], label=name
        )
    axes.set_xticks(range(depth), [layer_name(layer) for layer in range(depth)])
    axes.set_xlim(-0.3, depth - 0.7)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), fontsize=7)
