"""A biLM's training: its loss, and the perplexity of each held-out text."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from elmo_bench.errors import UserError
from elmo_bench.report.figures.style import COLORS, layer_style, legend_below, new_figure

MARKERS = "os^Dv<>pXP"
Point = tuple[float, float]  # tokens, value


def draw(
    name: str,
    losses: Sequence[Point],
    perplexities: Sequence[tuple[float, Mapping[str, Mapping[str, float]]]],
) -> Figure:
    """Two panels over the tokens read.

    Args:
        name: Of the biLM.
        losses: The training loss. A biLM of an earlier version has none.
        perplexities: After how many tokens; by part of the held-out text and direction.
    """
    if not perplexities:
        raise UserError(f"The training.json of {name} has no history of held-out perplexity.")
    figure = new_figure(7.5, 3.4)
    left, right = figure.subplots(1, 2)
    _draw_losses(left, losses)
    parts = list(perplexities[-1][1])
    for rank, part in enumerate(parts):
        points = [(tokens, by[part]["mean"]) for tokens, by in perplexities if part in by]
        style = layer_style(rank, len(parts))
        right.plot(*_in_millions(points), label=part, marker=MARKERS[rank % len(MARKERS)], **style)
    right.set_yscale("log")
    right.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    right.yaxis.set_minor_formatter(
        FuncFormatter(lambda value, _: f"{value:g}" if f"{value:g}"[0] in "25" else "")
    )
    right.set_title("held-out perplexity")
    for axes in (left, right):
        axes.set_xlabel("million tokens")
        axes.set_xlim(left=0)
    figure.suptitle(name, fontweight="bold")
    legend_below(figure, right)
    return figure


def _draw_losses(axes: Axes, losses: Sequence[Point]) -> None:
    axes.plot(*_in_millions(losses), color=COLORS["elmo"])
    axes.set_title("training loss")
    axes.set_ylabel("nats per token")
    if not losses:
        axes.text(0.5, 0.5, "not recorded", transform=axes.transAxes, ha="center")


def _in_millions(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [tokens / 1e6 for tokens, _ in points], [value for _, value in points]
