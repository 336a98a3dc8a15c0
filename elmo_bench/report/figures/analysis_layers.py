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
NAMED_LAYERS = 7  # more have their number only, which has room
# So do baselines: by the first words of their names.
BASELINES = {
    "most frequent": ("#9a9a9a", "--"),
    "WordNet first": ("#9a9a9a", "--"),
    TOKENS: ("#707070", "-"),
    "": ("#404040", ":"),  # static vectors
}


def draw(analyses: list[Analysis]) -> Figure:
    """A panel for each analysis and corpus, a line for each encoder and method.

    Encoders have panels of their own, with the same scale, if there are several methods or if a
    baseline's score depends on the encoder.
    """
    by_corpus: dict[tuple[str, str], list[Analysis]] = defaultdict(list)
    for analysis in analyses:
        if analysis.metric:
            by_corpus[analysis.analysis, analysis.data].append(analysis)
    if not by_corpus:
        raise UserError(EMPTY)
    panels = [
        (f"{name}: {data}{encoder}", some, all_of_corpus)
        for (name, data), all_of_corpus in sorted(by_corpus.items())
        for encoder, some in _by_panel(all_of_corpus).items()
    ]
    lines = -(-len(panels) // PER_LINE)
    columns = -(-len(panels) // lines)
    figure = new_figure(0.4 + 3.3 * columns, 0.2 + 3.6 * lines)
    grid = figure.subplots(lines, columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (title, some, all_of_corpus) in zip(grid.flat, panels, strict=False):
        _draw_panel(axes, some)
        axes.set(title=title, ylabel=f"{some[0].metric}, %", ylim=_limits(all_of_corpus))
    return figure


def _by_panel(analyses: list[Analysis]) -> dict[str, list[Analysis]]:
    """The panels of a corpus, named by what the title adds."""
    by_encoder: dict[str, list[Analysis]] = defaultdict(list)
    for analysis in analyses:
        by_encoder[analysis.bilm].append(analysis)
    methods = {method_label(analysis) for analysis in analyses}
    baselines = [analysis.baselines for analysis in analyses]
    if len(by_encoder) == 1 or (len(methods) == 1 and all(b == baselines[0] for b in baselines)):
        return {"": analyses}
    return {f", {encoder}": by_encoder[encoder] for encoder in sorted(by_encoder)}


def _limits(analyses: list[Analysis]) -> tuple[float, float]:
    """The range of a corpus's scores, with a margin."""
    scores = [
        score[analysis.metric]
        for analysis in analyses
        for score in (*analysis.layers, *analysis.baselines.values())
    ]
    margin = 0.05 * (max(scores) - min(scores)) or 1.0
    return min(scores) - margin, max(scores) + margin


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
    numbered = depth > NAMED_LAYERS
    axes.set_xticks(range(depth), [str(i) if numbered else layer_name(i) for i in range(depth)])
    axes.set_xlabel("layer (0: tokens)" if numbered else "")
    axes.set_xlim(-0.3, depth - 0.7)
    # Long handles, in which dashes can be told from a line behind the marker.
    below = (0.5, -0.16 if numbered else -0.1)
    axes.legend(loc="upper center", bbox_to_anchor=below, fontsize=7, handlelength=4)
