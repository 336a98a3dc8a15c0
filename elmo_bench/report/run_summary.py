"""The summary printed after a run: baseline, +ELMo, gain, the paper's numbers, layer weights."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from elmo_bench.records.run import Record
from elmo_bench.report.gain import format_gain
from elmo_bench.report.groups import UNTRAINED, is_untrained
from elmo_bench.report.weights import layer_name

BAR = 30  # characters for a layer weight of 1


def show_comparison(
    baseline: Record | None,
    record: Record,
    published: Mapping[str, float],
    console: Console | None = None,
) -> None:
    """Print a run next to its baseline and the paper's numbers."""
    console = console or Console()
    console.print(comparison_table(baseline, record, published))
    if record.layer_weights:
        console.print(weights_table(record))


def comparison_table(
    baseline: Record | None, record: Record, published: Mapping[str, float]
) -> Table:
    """Scores of a run and its baseline, with the paper's below."""
    metric = record.metric
    table = Table(title=f"{record.task} on {record.data}, seed {record.seed}", title_justify="left")
    for column in ("", f"dev {metric}", f"test {metric}", "training s"):
        table.add_column(column, justify="left" if not column else "right")
    for label, row in (("baseline", baseline), (_arm(record), record)):
        if row is not None:
            scores = [f"{row.scores[split][metric]:.2f}" for split in ("dev", "test")]
            table.add_row(label, *scores, f"{row.seconds.get('training', 0):.0f}")
    if baseline is not None:
        gains = [
            format_gain(baseline.scores[split][metric], record.scores[split][metric])
            for split in ("dev", "test")
        ]
        table.add_row("gain (absolute / error reduction)", *gains, "", style="bold")
    if published:
        table.add_section()
        paper = f"paper, on its own corpus: {published['baseline']} -> {published['elmo']}"
        gain = format_gain(published["baseline"], published["elmo"])
        table.add_row(paper, "", gain, "", style="dim")
    return table


def weights_table(record: Record) -> Table:
    """The learned layer weights as bars."""
    table = Table(title="Layer weights (softmax, sum to 1) and gamma", title_justify="left")
    table.add_column("placement")
    table.add_column("layer")
    table.add_column("weight", justify="right")
    table.add_column("", min_width=BAR)
    for placement, learned in record.layer_weights.items():
        weights = learned["weights"]
        layers = learned.get("layers", range(len(weights)))
        for index, (layer, weight) in enumerate(zip(layers, weights, strict=True)):
            bar = "█" * round(BAR * weight)
            name = placement if index == 0 else ""
            table.add_row(name, layer_name(layer), f"{weight:.3f}", bar)
        table.add_row("", "gamma", f"{learned['gamma']:.3f}", "")
        table.add_section()
    return table


def _arm(record: Record) -> str:
    if record.elmo == "none":
        return "baseline"
    bilm = f"{record.bilm}, {UNTRAINED}" if is_untrained(record) else record.bilm
    return f"+ELMo ({record.elmo}, biLM {bilm})"
