"""What each layer knows: scores by layer, with the baselines as horizontal lines."""

from collections import defaultdict
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elmo_bench.errors import UserError
from elmo_bench.records.analysis import Analysis
from elmo_bench.report.analysis_tables import TOKENS, method_label
from elmo_bench.report.figures.style import LAYER_COLORS, new_figure
from elmo_bench.report.weights import layer_name

EMPTY = "no analysis with scores; run `elmo-bench wsd BILM` or `elmo-bench pos BILM` first"
# The same method looks the same in every panel: what it compares with and whether it centers is
# the color (centered: open markers), a window is dashed, the encoder is the marker.
METHOD_COLORS = {
    ("sense", False): "#0072b2",
    ("sense", True): "#56b4e9",
    ("instance", False): "#d55e00",
    ("instance", True): "#e69f00",
}
WINDOW_DASHES = ["-", "--", "-.", ":"]  # none, then by size
MARKERS = ["o", "^", "s", "D", "v", "P", "X"]
PER_LINE = 3
# So do baselines: by the first words of their names.
BASELINES = {
    "most frequent": ("#9a9a9a", "--"),
    "WordNet first": ("#9a9a9a", "--"),
    TOKENS: ("#707070", "-"),
    "": ("#404040", ":"),  # static vectors
}


def draw(analyses: list[Analysis]) -> Figure:
    """A panel for each analysis and corpus, a line for each encoder and method."""
    panels: dict[tuple[str, str], list[Analysis]] = defaultdict(list)
    for analysis in analyses:
        if analysis.metric:
            panels[analysis.analysis, analysis.data].append(analysis)
    if not panels:
        raise UserError(EMPTY)
    lines = -(-len(panels) // PER_LINE)
    columns = -(-len(panels) // lines)
    figure = new_figure(0.4 + 3.3 * columns, 0.2 + 3.6 * lines)
    grid = figure.subplots(lines, columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, ((name, data), some) in zip(grid.flat, sorted(panels.items()), strict=False):
        _draw_panel(axes, some)
        axes.set(title=f"{name}: {data}", ylabel=f"{some[0].metric}, %")
    return figure


def _style(analysis: Analysis, bilms: list[str], windows: list[int]) -> dict[str, Any]:
    settings, window = analysis.settings, int(analysis.settings.get("window") or 0)
    number = bilms.index(analysis.bilm)
    method = str(settings.get("nearest")), bool(settings.get("center"))
    return {
        "color": METHOD_COLORS.get(method, LAYER_COLORS[(number + 1) % len(LAYER_COLORS)]),
        "linestyle": WINDOW_DASHES[windows.index(window) % len(WINDOW_DASHES)],
        "marker": MARKERS[number % len(MARKERS)],
        "fillstyle": "none" if settings.get("center") else "full",
    }


def _draw_panel(axes: Axes, analyses: list[Analysis]) -> None:
    depth = max(len(analysis.layers) for analysis in analyses)
    bilms = sorted({analysis.bilm for analysis in analyses})
    windows = sorted({0} | {int(analysis.settings.get("window") or 0) for analysis in analyses})
    several = len(bilms) > 1
    for analysis in sorted(analyses, key=lambda a: (a.bilm, method_label(a))):
        scores = [layer[analysis.metric] for layer in analysis.layers]
        parts = [analysis.bilm, method_label(analysis)] if several else [method_label(analysis)]
        label = ", ".join(filter(None, parts)) or analysis.bilm
        axes.plot(range(len(scores)), scores, label=label, **_style(analysis, bilms, windows))
    best = {
        name: max(a.baselines[name][a.metric] for a in analyses if name in a.baselines)
        for analysis in analyses
        for name in analysis.baselines
    }
    for name, score in best.items():
        color, dashes = next(look for start, look in BASELINES.items() if name.startswith(start))
        axes.axhline(score, color=color, lw=1, ls=dashes, label=name)
    axes.set_xticks(range(depth), [layer_name(layer) for layer in range(depth)])
    axes.set_xlim(-0.3, depth - 0.7)
    # Long handles, in which dashes can be told from a line behind the marker.
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), fontsize=7, handlelength=4)
