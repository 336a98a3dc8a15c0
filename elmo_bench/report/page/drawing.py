"""Inline SVG for the page, which follows its colors, light and dark."""

import re

from markupsafe import Markup
from matplotlib.figure import Figure

from elmo_bench.records.run import Record
from elmo_bench.report.figures.style import COLORS, FAINT, INK, LAYER_COLORS, as_svg

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 340, 150, 42, 24, 10


def inline_figure(figure: Figure, name: str, label: str) -> Markup:
    """A figure as an <svg> element with the page's colors and ids that are unique on the page."""
    svg = as_svg(figure)
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\1{name}-", svg)
    svg = svg.replace("'DejaVu Sans'", "system-ui, sans-serif")
    colors = {INK: "currentColor", FAINT: "var(--line)"}
    colors |= {color: f"var(--{arm})" for arm, color in COLORS.items()}
    colors |= {c: f"var(--layer{index})" for index, c in enumerate(LAYER_COLORS)}
    for color, variable in colors.items():
        svg = svg.replace(color, variable)
    # Safe as markup: matplotlib escapes the text of its SVG, and the label is escaped here.
    opening = Markup('<svg role="img" aria-label="{}" ').format(label)
    return opening + Markup(svg.removeprefix("<svg "))


def curve(record: Record, baseline: Record | None) -> Markup:
    """The dev scores of a run and its baseline by epoch."""
    key = f"dev/{record.metric}"
    runs = {"elmo" if baseline else "baseline": record} | (
        {"baseline": baseline} if baseline else {}
    )
    rows = {
        arm: [(row["epoch"], row[key]) for row in run.epochs if "epoch" in row and key in row]
        for arm, run in runs.items()
    }
    points = [point for found in rows.values() for point in found]
    if len(points) < 2:
        return Markup("")
    last = max(epoch for epoch, _ in points)
    low, high = min(score for _, score in points), max(score for _, score in points)
    spread = (high - low) or 1.0

    def position(epoch: int, score: float) -> str:
        x = LEFT + (WIDTH - LEFT - 8) * epoch / last
        y = TOP + (HEIGHT - TOP - BOTTOM) * (high - score) / spread
        return f"{x:.1f},{y:.1f}"

    lines = Markup("").join(
        Markup('<polyline class="{}" points="{}"/>').format(
            arm, " ".join(position(*point) for point in found)
        )
        for arm, found in rows.items()
    )
    return _FRAME.format(
        label=f"{key} over {last} epochs, from {low:.1f} to {high:.1f}",
        size=f"0 0 {WIDTH} {HEIGHT}",
        axis=f"M{LEFT},{TOP}V{HEIGHT - BOTTOM}H{WIDTH - 8}",
        left=LEFT - 4, top=TOP + 4, foot=HEIGHT - BOTTOM, right=WIDTH - 8, under=HEIGHT - 8,
        high=f"{high:.1f}", low=f"{low:.1f}", last=f"epoch {last}", lines=lines,
    )  # fmt: skip


_FRAME = Markup(
    '<svg class="curve" role="img" aria-label="{label}" viewBox="{size}">'
    '<path class="axis" d="{axis}"/>'
    '<text x="{left}" y="{top}" text-anchor="end">{high}</text>'
    '<text x="{left}" y="{foot}" text-anchor="end">{low}</text>'
    '<text x="{right}" y="{under}" text-anchor="end">{last}</text>'
    "{lines}</svg>"
)
