"""The summary printed after a run: baseline, +ELMo, gain, the paper's numbers, layer weights."""

from collections.abc import Mapping

from rich.console import Console

from elmo_bench.records.run import Record
from elmo_bench.report.cells import Cell, Table, word
from elmo_bench.report.gain import format_gain
from elmo_bench.report.groups import UNTRAINED, is_untrained
from elmo_bench.report.terminal import show
from elmo_bench.report.weights import layer_name

BAR = 30  # characters for a layer weight of 1
SPLITS = ("dev", "test")


def show_comparison(
    baseline: Record | None,
    record: Record,
    published: Mapping[str, float],
    console: Console | None = None,
) -> None:
    """Print a run next to its baseline and the paper's numbers."""
    console = console or Console()
    show(comparison_table(baseline, record, published), console)
    if record.layer_weights:
        show(weights_table(record), console)


def comparison_table(
    baseline: Record | None, record: Record, published: Mapping[str, float]
) -> Table:
    """Scores of a run and its baseline; the paper's are in the note."""
    metric = record.metric
    columns = {"arm": "", **{split: f"{split} {metric}" for split in SPLITS}, "s": "training s"}
    rows = [_scores_row(arm_name(row), row) for row in (baseline, record) if row is not None]
    if baseline is not None:
        gains = {
            split: format_gain(baseline.scores[split][metric], record.scores[split][metric])
            for split in SPLITS
            if metric in baseline.scores.get(split, {}) and metric in record.scores.get(split, {})
        }
        cells = {split: Cell(gain) for split, gain in gains.items()}
        rows.append({"arm": word("gain / error reduction"), **cells})
    notes = []
    if published:
        before, after = published["baseline"], published["elmo"]
        gain = format_gain(before, after)
        notes.append(f"The paper, on its own corpus: {before} -> {after} ({gain}).")
    title = f"{record.task} on {record.data}, seed {record.seed}"
    return Table("run", title, columns, rows, notes, narrow=("s", "dev"))


def _scores_row(name: str, record: Record) -> dict[str, Cell]:
    scores = {
        split: record.scores[split][record.metric]
        for split in SPLITS
        if record.metric in record.scores.get(split, {})
    }
    cells = {split: Cell(f"{score:.2f}", {"": score}) for split, score in scores.items()}
    seconds = record.seconds.get("training", 0)
    return {"arm": word(name), **cells, "s": Cell(f"{seconds:.0f}", {"": seconds})}


def weights_table(record: Record) -> Table:
    """The learned layer weights as bars."""
    columns = {"placement": "placement", "layer": "layer", "weight": "weight", "bar": " "}
    rows: list[dict[str, Cell]] = []
    for placement, learned in record.layer_weights.items():
        weights = learned["weights"]
        layers = learned.get("layers", range(len(weights)))
        named = [(layer_name(layer), weight) for layer, weight in zip(layers, weights, strict=True)]
        for name, value in [*named, ("gamma", learned["gamma"])]:
            row = {"placement": word(placement), "layer": word(name)}
            row["weight"] = Cell(f"{value:.3f}", {"": value})
            if name != "gamma":
                row["bar"] = word("█" * round(BAR * value))
            rows.append(row)
    title = "Layer weights (softmax, sum to 1) and gamma"
    return Table("weights", title, columns, rows, narrow=("bar",))


def arm_name(record: Record) -> str:
    """What a run is called next to its baseline."""
    if record.elmo == "none":
        return "baseline"
    encoder = f"{record.bilm}, {UNTRAINED}" if is_untrained(record) else record.bilm
    return f"+ELMo ({record.elmo}, encoder {encoder})"
