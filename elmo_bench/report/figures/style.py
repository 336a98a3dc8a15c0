"""The common style of all figures: readable in print, in grayscale and by the color-blind."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from elmo_bench.errors import UserError

INK = "#262626"
FAINT = "#b8b8b8"
# Okabe and Ito's colors, distinguishable with any kind of color vision; they also differ in
# lightness for grayscale, and every arm has its own marker and dashes.
COLORS = {"baseline": "#707070", "elmo": "#0072b2", "untrained": "#e69f00", "paper": "#d55e00"}
MARKERS = {"baseline": "s", "elmo": "o", "untrained": "^", "paper": "D"}
DASHES = {"baseline": "--", "elmo": "-", "untrained": "-.", "paper": ":"}
NAMES = {
    "baseline": "baseline",
    "elmo": "+ELMo",
    "untrained": "+ELMo, untrained",
    "paper": "paper",
}
# Encoders after the first, which has the style of "elmo".
OTHER_ENCODERS: list[dict[str, Any]] = [
    {"color": "#009e73", "linestyle": (0, (5, 1, 1, 1))},
    {"color": "#cc79a7", "linestyle": (0, (3, 1, 1, 1, 1, 1))},
    {"color": "#56b4e9", "linestyle": (0, (1, 1))},
]
LAYER_COLORS = ["#56b4e9", "#0072b2", "#d55e00", "#009e73", "#cc79a7"]
LAYER_DASHES = [":", "-", "--", "-.", (0, (1, 1, 4, 1))]
FORMATS = ("png", "svg", "pdf")

SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so figures are the same everywhere
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.5,
    "lines.markersize": 4,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "text.parse_math": False,  # a $ in a name is a $
    "svg.hashsalt": "elmo_bench",
    "pdf.fonttype": 42,
}


@contextmanager
def styled() -> Iterator[None]:
    """Apply the style to the figures drawn and saved inside this context."""
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # logs every glyph it embeds
    with mpl.rc_context(SETTINGS):
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure without a window; its size is in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def legend_below(figure: Figure | SubFigure, *panels: Axes) -> None:
    """Add one legend for all panels, with as many columns as the figure has room for."""
    named = [axes.get_legend_handles_labels() for axes in panels]
    unique = {label: handle for pair in named for handle, label in zip(*pair, strict=True)}
    for columns in range(4, 0, -1):
        legend = figure.legend(
            unique.values(), unique.keys(), loc="outside lower center", ncols=columns
        )
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def arm_style(arm: str) -> dict[str, Any]:
    """The color and dashes of an arm's line."""
    return {"color": COLORS[arm], "linestyle": DASHES[arm]}


def encoder_style(rank: int) -> dict[str, Any]:
    """The color and dashes of the lines of a figure's first, second, ... encoder."""
    return OTHER_ENCODERS[(rank - 1) % len(OTHER_ENCODERS)] if rank else arm_style("elmo")


def layer_style(layer: int, depth: int) -> dict[str, Any]:
    """The color and dashes of a layer's line; many layers go from dark to light, in order."""
    if depth <= len(LAYER_COLORS):
        return {"color": LAYER_COLORS[layer], "linestyle": LAYER_DASHES[layer]}
    shade = mpl.colormaps["viridis"](0.92 * layer / (depth - 1))
    return {"color": shade, "linestyle": LAYER_DASHES[1 + layer % 3]}


def whole_ticks(axes: Axes, ticks: int) -> None:
    """Put at most about `ticks` ticks, at whole numbers, on the horizontal axis."""
    axes.xaxis.set_major_locator(MaxNLocator(nbins=ticks, integer=True))


def save(figure: Figure, path: Path) -> None:
    """Write a figure; the same records give the same bytes."""
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise UserError(f"{path}: unknown figure format; allowed are .{', .'.join(FORMATS)}")
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format=kind, dpi=200, metadata=dates[kind])


def as_svg(figure: Figure) -> str:
    """A figure as SVG whose labels stay text, so that a page's fonts and colors apply."""
    text = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue().decode("utf-8")
