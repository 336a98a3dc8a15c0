"""The learned layer weights as a table, with their interpretation as notes."""

from elmo_bench.report.cells import SHORT, Cell, Table, word
from elmo_bench.report.differences import differences
from elmo_bench.report.groups import Runs, mean_and_spread
from elmo_bench.report.headline import headline_groups
from elmo_bench.report.interpretation import reading
from elmo_bench.report.weights import layer_name, learned_weights

HEAD = {
    "task": "Task",
    "corpus": "Corpus",
    "words": "Word vectors",
    "bilm": "Encoder",
    "source": "Source",
    "settings": "Differing settings",
    "placement": "Placement",
}
NARROW = ("words", "bilm", "source", SHORT, "settings", "gamma", "corpus")


def weight_table(runs: Runs) -> Table:
    """The paper's Figure 2 in numbers: mean ± standard deviation over seeds."""
    groups = [group for group in headline_groups(runs) if learned_weights(group)]
    depth = 0
    rows: list[dict[str, Cell]] = []
    for group, settings in zip(groups, differences(groups), strict=True):
        for placement, learned in sorted(learned_weights(group).items()):
            row = {
                "task": word(group.task),
                "corpus": word(group.corpus),
                "words": word(group.any_record.words),
                "bilm": word(group.bilm),
                "source": word(group.source),
                "settings": word(settings),
                "placement": word(placement),
                "gamma": _number(learned.gammas.tolist()),
            }
            for layer, weights in zip(learned.layers, learned.weights.T, strict=True):
                row[f"layer{layer}"] = _number(weights.tolist())
            depth = max(depth, *(layer + 1 for layer in learned.layers))
            rows.append(row)
    columns = HEAD | {f"layer{i}": layer_name(i) for i in range(depth)} | {"gamma": "γ"}
    notes = [
        "Softmax weights, which sum to 1, and the scale γ: mean ± standard deviation over seeds "
        "(number of seeds)."
    ]
    notes += reading(runs)
    return Table(
        "weights", "Learned layer weights (the paper's Figure 2)", columns, rows, notes,
        NARROW, shortened="standard deviations and numbers of seeds",
    )  # fmt: skip


def _number(values: list[float]) -> Cell:
    mean, spread = mean_and_spread(values)
    text = f"{mean:.2f}" if spread is None else f"{mean:.2f} ± {spread:.2f}"
    values_by_name = {"mean": mean, "sd": spread, "n": len(values)}
    return Cell(f"{text} ({len(values)})", values_by_name, short=f"{mean:.2f}")
