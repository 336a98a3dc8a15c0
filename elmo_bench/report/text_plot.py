"""Curves in the terminal, drawn with characters."""

from collections.abc import Mapping, Sequence

Point = tuple[float | int, float | int]
MARKS = "●○"
ROWS = 8


def text_plot(curves: Mapping[str, Sequence[Point]], width: int, x_name: str) -> list[str]:
    """Lines of text with at most two curves in one frame; none if there is too little to draw.

    Args:
        curves: Points by the name of their curve; where two meet, the first is shown.
        width: Characters of a line.
        x_name: What the horizontal axis counts.
    """
    points = [point for curve in curves.values() for point in curve]
    if len({x for x, _ in points}) < 2:
        return []
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    low, high = min(y for _, y in points), max(y for _, y in points)
    spread = (high - low) or 1.0
    labels = [f"{high:.1f}", f"{low:.1f}"]
    margin = max(map(len, labels))
    columns = max(10, width - margin - 3)
    grid = [[" "] * columns for _ in range(ROWS)]
    for mark, curve in reversed(list(zip(MARKS, curves.values(), strict=False))):
        for x, y in curve:
            column = round((columns - 1) * (x - left) / (right - left))
            grid[round((ROWS - 1) * (high - y) / spread)][column] = mark
    sides = [labels[0], *[""] * (ROWS - 2), labels[1]]
    lines = [f"{side:>{margin}} ┤{''.join(row)}" for side, row in zip(sides, grid, strict=True)]
    ends = f"{left:g}".ljust(columns - len(f"{right:g}")) + f"{right:g}"
    legend = ", ".join(f"{mark} {name}" for mark, name in zip(MARKS, curves, strict=False))
    return [*lines, f"{'':{margin}}  {ends}", f"{'':{margin}}  {x_name}; {legend}"]
