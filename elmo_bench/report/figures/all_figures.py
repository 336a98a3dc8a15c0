"""All figures by name."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from elmo_bench.records.analysis import Analysis, read_analyses
from elmo_bench.report.analysis_tables import analyses_folder
from elmo_bench.report.figures import (
    analyses,
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
OF_ANALYSES: dict[str, Callable[[list[Analysis]], Figure]] = {"analysis": analyses.draw}


def figures(runs: Runs, directory: Path) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """Yield each figure's name and the function that draws it.

    Args:
        runs: The runs to draw.
        directory: The folder of runs, with the folder of analyses beside it.
    """
    for name, of_runs in OF_RUNS.items():
        yield name, partial(of_runs, runs)
    for name, of_analyses in OF_ANALYSES.items():
        yield name, partial(of_analyses, read_analyses(analyses_folder(directory)))
