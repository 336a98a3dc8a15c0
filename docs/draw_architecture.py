"""Draws docs/architecture.svg from the code: `python docs/draw_architecture.py`.

The layers are those of the import contract in pyproject.toml, the arrows are the imports that grimp
finds, and the numbers in the boxes are the steps of the two walks in docs/architecture.md. Only
where a box stands, what it says below its name and which arrows a walk takes is decided here.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path

import grimp
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path as Curve

from elmo_bench.report.figures.style import COLORS, INK, save, styled

ROOT = Path(__file__).parents[1]
PACKAGE = "elmo_bench"

# The middle of each box, in inches, and what its package does.
BOXES = {
    "cli": (5.0, "elmo-bench"),
    "commands": (5.0, "one file per command"),
    "sweep": (3.3, "many runs"),
    "tune": (6.9, "hyperparameters"),
    "runs": (3.3, "from settings to record"),
    "analysis": (8.1, "what the layers know"),
    "tasks": (1.5, "one folder per task"),
    "pretraining": (6.1, "from text to biLM"),
    "task": (1.3, "interface of a task"),
    "features": (3.7, "frozen layers, ELMo mix"),
    "loggers": (6.1, "W&B, TensorBoard"),
    "training": (8.5, "checkpoints, Ctrl-C"),
    "bilm": (6.0, "the language model"),
    "nn": (2.6, "blocks of networks"),
    "kernels": (4.3, "compiled layers"),
    "devices": (4.4, "CPU and GPU"),
    "report": (7.6, "tables, figures, page"),
    "data": (3.5, "examples, formats"),
    "metrics": (1.4, "official scores"),
    "config": (5.4, "typed settings"),
    "mini": (3.2, "generated corpora"),
    "records": (5.4, "files, written whole"),
    "errors": (5.4, "what a user can mend"),
}
WIDTH, HEIGHT, PITCH = 1.62, 0.56, 0.92  # of a box, and from layer to layer
PAGE = 9.7  # width in inches
EDGE = 0.45  # left of it are the numbers of the layers


@dataclass(frozen=True)
class Walk:
    """A command, the packages it goes through, and the file it ends with."""

    heading: str  # of its table in docs/architecture.md
    command: str
    color: str
    start: float  # where its command stands
    end: tuple[float, str]  # where its file stands, and what it is
    hops: str  # from package to package; a hop with ~ is by name, not an import


WALKS = (
    Walk(
        "## Walk 1",
        "python run.py task=ner",
        COLORS["elmo"],
        2.4,
        (8.3, "record\nresults/runs/*.json"),
        "commands>config commands>sweep sweep>runs runs~tasks runs>task runs>data "
        "data>mini runs>features features>bilm runs>nn runs>loggers tasks>nn tasks>metrics "
        "runs>report runs>records",
    ),
    Walk(
        "## Walk 2",
        "python pretrain.py bilm=small …",
        COLORS["paper"],
        7.7,
        (2.2, "biLM checkpoint\nresults/bilm/<name>/"),
        "commands>config commands>pretraining pretraining>data "
        "pretraining>bilm pretraining>loggers bilm>records",
    ),
)


@dataclass
class Edge:
    """An arrow from one package to another; `waypoints` are its places in the layers between."""

    source: str
    target: str
    walk: Walk | None = None
    by_name: bool = False
    waypoints: list[float] = field(default_factory=list)


def read_layers() -> list[list[str]]:
    """The packages of each layer, from the top down."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = config["tool"]["importlinter"]["contracts"]
    [contract] = [c for c in contracts if c["type"] == "layers" and c["containers"] == [PACKAGE]]
    return [re.findall(r"\w+", layer) for layer in contract["layers"]]


def read_imports() -> list[tuple[str, str]]:
    """Which package directly imports which."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    found = set()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            pair = _package(module), _package(imported)
            if pair[0] != pair[1] and all(pair):
                found.add(pair)
    return sorted(found)


def _package(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def read_steps(heading: str) -> dict[str, list[int]]:
    """The steps of a walk's table by package; run.py and pretrain.py are in none."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition(f"\n{heading}")[2].partition("\n## ")[0]
    steps = defaultdict(list)
    for number, path in re.findall(r"^\| (\d+) \| `([\w/.]+)`", section, re.MULTILINE):
        parts = path.removeprefix(f"{PACKAGE}/").removesuffix(".py").split("/")
        if "/" in path:
            steps[parts[0]].append(int(number))
    return dict(steps)


def find_edges(imports: Sequence[tuple[str, str]]) -> list[Edge]:
    """The arrows: hops of walks, and imports that are on none."""
    edges: list[Edge] = []
    for walk in WALKS:
        for source, kind, target in re.findall(r"(\w+)([>~])(\w+)", walk.hops):
            if kind == ">" and (source, target) not in imports:
                raise ValueError(f"{walk.heading}: {source} does not import {target} (any more)")
            edges.append(Edge(source, target, walk, by_name=kind == "~"))
        passed = {
            name for edge in edges if edge.walk is walk for name in (edge.source, edge.target)
        }
        if passed != set(read_steps(walk.heading)):
            odd = sorted(passed ^ set(read_steps(walk.heading)))
            raise ValueError(f"{walk.heading}: {odd} are only in its table or only in its hops")
    on_walks = {(edge.source, edge.target) for edge in edges}
    return edges + [Edge(*pair) for pair in imports if pair not in on_walks]


def route(edges: Sequence[Edge], layers: Sequence[Sequence[str]]) -> None:
    """Lead arrows between the boxes of the layers they skip, as straight as they can go."""
    level = {name: number for number, names in enumerate(layers) for name in names}
    lanes = np.arange(EDGE + 0.15, PAGE - 0.1, 0.07)
    taken: dict[int, list[tuple[int, Edge]]] = defaultdict(list)
    for edge in sorted(edges, key=lambda e: (e.walk is None, level[e.source] - level[e.target])):
        first, last = level[edge.source], level[edge.target]
        start, end = BOXES[edge.source][0], BOXES[edge.target][0]
        cost, choices = np.abs(lanes - start), []
        for number in range(first + 1, last):
            straight = start + (end - start) * (number - first) / (last - first)
            here = 0.1 * np.abs(lanes - straight)
            for name in layers[number]:
                here[np.abs(lanes - BOXES[name][0]) < WIDTH / 2 + 0.1] = np.inf
            for lane, other in taken[number]:
                near = 1 if edge.walk or other.walk else 0  # walks keep away from each other
                here[max(0, lane - near) : lane + near + 1] += 1.0
            if number > first + 1:
                aside = np.abs(lanes[:, None] - lanes[None, :])
                moves = cost[None, :] + aside + 0.5 * (aside > 0)  # rather one bend than several
                choices.append(moves.argmin(axis=1))
                cost = moves.min(axis=1)
            cost = cost + here
        if last - first > 1:
            lane = int((cost + np.abs(lanes - end)).argmin())
            picked = [lane]
            for choice in reversed(choices):
                picked.insert(0, int(choice[picked[0]]))
            for number, lane in zip(range(first + 1, last), picked, strict=True):
                taken[number].append((lane, edge))
            edge.waypoints = [float(lanes[lane]) for lane in picked]


def draw() -> Figure:
    """The whole picture."""
    layers = read_layers()
    edges = find_edges(read_imports())
    missing = {name for names in layers for name in names} ^ set(BOXES)
    if missing:
        raise ValueError(f"{sorted(missing)}: in the layers or in BOXES, but not in both")
    route(edges, layers)
    height = PITCH * len(layers) + 0.45
    figure = Figure(figsize=(PAGE, height), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, PAGE), ylim=(PITCH / 2 - height, PITCH / 2))
    axes.axis("off")
    for number in range(len(layers)):
        shade = "#f4f4f4" if number % 2 else "white"
        band = Rectangle((0, -PITCH * (number + 0.5)), PAGE, PITCH, color=shade, lw=0, zorder=0)
        axes.add_patch(band)
        axes.text(0.22, -PITCH * number, str(number + 1), color="#8a8a8a", ha="center", va="center")
    axes.text(0.22, 0.3, "layer", color="#8a8a8a", ha="center", va="center", size=7)
    level = {name: number for number, names in enumerate(layers) for name in names}
    _draw_edges(axes, edges, level)
    for name, number in level.items():
        _draw_box(axes, name, -PITCH * number)
    for walk in WALKS:
        _draw_ends(axes, walk, -PITCH * level["commands"], -PITCH * level["records"])
    _draw_legend(axes)
    return figure


def _draw_edges(axes: Axes, edges: Sequence[Edge], level: dict[str, int]) -> None:
    leaving = _ports(edges, "source", lambda e: (e.waypoints or [BOXES[e.target][0]])[0])
    arriving = _ports(edges, "target", lambda e: (e.waypoints or [BOXES[e.source][0]])[-1])
    for index, edge in enumerate(edges):
        top = -PITCH * level[edge.source] - HEIGHT / 2
        bottom = -PITCH * level[edge.target] + HEIGHT / 2
        points = [(leaving[index], top)]
        for step, x in enumerate(edge.waypoints, start=1):
            y = -PITCH * (level[edge.source] + step)
            points += [(x, y + HEIGHT / 2), (x, y - HEIGHT / 2)]
        points.append((arriving[index], bottom + 0.02))
        skipped = len(edge.waypoints)
        gray = ("#8c8c8c", "#a8a8a8", "#bdbdbd", "#cfcfcf")[min(skipped, 3)]
        arrow = FancyArrowPatch(
            path=_curve(points),
            arrowstyle="-|>,head_length=3.2,head_width=1.5",
            color=edge.walk.color if edge.walk else gray,
            lw=1.7 if edge.walk else 0.6,
            linestyle=(0, (2.5, 1.5)) if edge.by_name else "-",
            capstyle="butt",
            joinstyle="miter",
            zorder=3 if edge.walk else 2 - 0.1 * skipped,
            shrinkA=0,
            shrinkB=0,
        )
        axes.add_patch(arrow)


def _ports(edges: Sequence[Edge], end: str, toward: Callable[[Edge], float]) -> dict[int, float]:
    """Where each arrow touches its box: side by side, in the order of where they come from."""
    ports = {}
    for name, (middle, _) in BOXES.items():
        own = [i for i, edge in enumerate(edges) if getattr(edge, end) == name]
        own.sort(key=lambda i: toward(edges[i]))
        room = min(0.14, (WIDTH - 0.2) / max(1, len(own) - 1))
        for place, index in enumerate(own):
            ports[index] = middle + room * (place - (len(own) - 1) / 2)
    return ports


def _curve(points: Sequence[tuple[float, float]]) -> Curve:
    """A smooth line that is vertical at every point."""
    corners, codes = [points[0]], [Curve.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 == x1:
            corners.append((x1, y1))
            codes.append(Curve.LINETO)
            continue
        middle = (y0 + y1) / 2
        corners += [(x0, middle), (x1, middle), (x1, y1)]
        codes += [Curve.CURVE4] * 3
    return Curve(corners, codes)


def _draw_box(axes: Axes, name: str, y: float) -> None:
    x, about = BOXES[name]
    _rounded(axes, x, y, WIDTH, HEIGHT, "white", INK, 0.9)
    axes.text(x, y + 0.15, name, ha="center", va="center", weight="bold", size=9.5, zorder=6)
    axes.text(x, y - 0.02, about, ha="center", va="center", size=7, color="#555555", zorder=6)
    for walk, side in zip(WALKS, ("left", "right"), strict=True):
        steps = read_steps(walk.heading).get(name, [])
        place = x + (WIDTH / 2 - 0.07) * (-1 if side == "left" else 1)
        axes.text(
            place, y - 0.18, _ranges(steps), ha=side, va="center", size=6.8, weight="bold",
            color=walk.color, zorder=6,
        )  # fmt: skip


def _ranges(numbers: Sequence[int]) -> str:
    """1, 2, 3, 5 as 1–3 5."""
    runs = []
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        runs.append(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}")
    return " ".join(runs)


def _draw_ends(axes: Axes, walk: Walk, commands: float, records: float) -> None:
    """The command where a walk starts, and the file where it ends."""
    wide = 0.075 * len(walk.command) + 0.3
    _rounded(axes, walk.start, commands, wide, 0.3, "white", walk.color, 1.2)
    axes.text(
        walk.start, commands, walk.command, ha="center", va="center", size=7.5,
        family="DejaVu Sans Mono", color=walk.color, zorder=6,
    )  # fmt: skip
    left = walk.start < BOXES["commands"][0]
    edge = BOXES["commands"][0] + (-1 if left else 1) * WIDTH / 2
    _straight(axes, walk.start + (wide / 2 if left else -wide / 2), edge, commands, walk.color)
    place, text = walk.end
    _rounded(axes, place, records, 1.7, 0.44, "white", walk.color, 1.2)
    axes.text(place, records, text, ha="center", va="center", size=7.5, color=walk.color, zorder=6)
    left = place < BOXES["records"][0]
    edge = BOXES["records"][0] + (-1 if left else 1) * WIDTH / 2
    _straight(axes, edge, place + (0.85 if left else -0.85), records, walk.color)


def _straight(axes: Axes, start: float, end: float, y: float, color: str) -> None:
    axes.add_patch(
        FancyArrowPatch(
            (start, y), (end, y), arrowstyle="-|>,head_length=3.2,head_width=1.5", color=color,
            lw=1.7, zorder=3, shrinkA=0, shrinkB=0.5, capstyle="butt", joinstyle="miter",
        )
    )  # fmt: skip


def _rounded(
    axes: Axes, x: float, y: float, width: float, height: float, fill: str, line: str, lw: float
) -> None:
    style = "round,pad=0,rounding_size=0.07"
    corner = (x - width / 2, y - height / 2)
    axes.add_patch(
        FancyBboxPatch(
            corner, width, height, style, facecolor=fill, edgecolor=line, lw=lw, zorder=5
        )
    )


def _draw_legend(axes: Axes) -> None:
    lines = [
        Line2D([], [], color=walk.color, lw=1.7, label=f"walk {number}, with its steps")
        for number, walk in enumerate(WALKS, start=1)
    ]
    lines += [
        Line2D([], [], color=WALKS[0].color, lw=1.7, ls=(0, (2.5, 1.5)), label="found by name"),
        Line2D([], [], color="#8c8c8c", lw=0.8, label="other imports; fainter: they skip layers"),
    ]
    axes.legend(handles=lines, loc="lower center", ncols=4, fontsize=8, borderaxespad=0.4)


def main(path: Path = ROOT / "docs" / "architecture.svg") -> None:
    """Write the picture; the same code gives the same bytes."""
    with styled():
        save(draw(), path)


if __name__ == "__main__":
    main()
