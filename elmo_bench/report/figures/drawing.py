"""All figures by name."""

from collections.abc import Callable

from matplotlib.figure import Figure

from elmo_bench.report.figures import gains, layer_weights, learning_curves, sample_efficiency
from elmo_bench.report.groups import Runs

FIGURES: dict[str, Callable[[Runs], Figure]] = {
    "gains": gains.draw,
    "layer-weights": layer_weights.draw,
    "learning-curves": learning_curves.draw,
    "sample-efficiency": sample_efficiency.draw,
}
