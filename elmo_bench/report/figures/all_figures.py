"""All figures by name."""

from collections.abc import Callable, Iterator
from functools import partial

from matplotlib.figure import Figure

from elmo_bench.records.analysis import Analysis
from elmo_bench.report.figures import (
    analysis_layers,
    gains,
    layer_weights,
    learning_curves,
    sample_efficiency,
)
from elmo_bench.report.groups import Runs

OF_RUNS: dict[str, Callable[[Runs], Figure]] = {
    "gains": gains.draw,
    "layer-weights": layer_weights.draw,
    "learning-curves": learning_curves.draw,
    "sample-efficiency": sample_efficiency.draw,
}
OF_ANALYSES: dict[str, Callable[[list[Analysis]], Figure]] = {"analysis": analysis_layers.draw}


def figures(runs: Runs, analyses: list[Analysis]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """Yield each figure's name and the function that draws it."""
    for name, of_runs in OF_RUNS.items():
        yield name, partial(of_runs, runs)
    for name, of_analyses in OF_ANALYSES.items():
        yield name, partial(of_analyses, analyses)
