"""The paper's Tables 2 and 3: ablations, with one setting varied along each row."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from elmo_bench.report.cells import PAPER, Cell, Table, missing, number, scores, word
from elmo_bench.report.differences import differences, flatten
from elmo_bench.report.groups import Group, Runs
from elmo_bench.report.paper import SOURCE, ablations
from elmo_bench.report.run_command import run_command

NOTES = [
    "Dev scores in percent: mean ± standard deviation over seeds (number of seeds).",
    "The runs of a row differ only in the column's setting.",
    f"Paper: {SOURCE}.",
]
HEAD = {
    "task": "Task",
    "metric": "Metric",
    "corpus": "Corpus",
    "words": "Word vectors",
    "bilm": "Encoder",
    "source": "Source",
    "settings": "Differing settings",
}


@dataclass(frozen=True)
class Column:
    """A column of an ablation.

    Args:
        matches: Whether a run with these ELMo settings belongs in the column.
        changes: The overrides that make a run belong in it.
    """

    title: str
    matches: Callable[[Mapping[str, Any]], bool]
    changes: dict[str, str]


def _penalized(penalty: float) -> Column:
    return Column(
        f"All layers, λ={penalty:g}",
        lambda elmo: elmo.get("layers") == "all" and elmo.get("l2") == penalty,
        {"elmo.l2": f"{penalty:g}"},
    )


def _placed(title: str, option: str, *placement: str) -> Column:
    return Column(
        title,
        lambda elmo: sorted(elmo.get("placement", [])) == sorted(placement),
        {"elmo": option},
    )


def _last(title: str, option: str, gamma: bool) -> Column:
    return Column(
        title,
        lambda elmo: elmo.get("layers") == "last" and elmo.get("gamma", True) == gamma,
        {"elmo": option},
    )


LAYERS = {
    "last": _last("Last only", "last", gamma=True),
    "all_1": _penalized(1.0),
    "all_0.001": _penalized(0.001),
}
UNSCALED = {"last_unscaled": _last("Last only, without γ", "no_gamma", gamma=False)}  # supplement
PLACEMENT = {
    "input": _placed("Input only", "input", "input"),
    "both": _placed("Input & output", "both", "input", "output"),
    "output": _placed("Output only", "output", "output"),
}


def layers_table(runs: Runs) -> Table:
    """Table 2: the last layer only or all layers, with strong or weak L2 on their weights."""
    unscaled = any(not group.config["elmo"].get("gamma", True) for group in runs.with_elmo)
    shown = LAYERS | UNSCALED if unscaled else LAYERS
    # A single layer is neither weighted nor normalized, so these vary along the row as well.
    varying = ("elmo.layers", "elmo.l2", "elmo.layer_norm", "elmo.gamma")
    rows = _elmo_rows(runs, "layers", shown, varying)
    columns = HEAD | {"baseline": "Baseline"} | {k: c.title for k, c in shown.items()}
    return Table("layers", "Layer ablation (the paper's Table 2)", columns, rows, NOTES)


def placement_table(runs: Runs) -> Table:
    """Table 3: ELMo vectors at the input of the task's model, its output, or both."""
    rows = _elmo_rows(runs, "placement", PLACEMENT, ("elmo.placement",))
    columns = HEAD | {"baseline": "Baseline"} | {k: c.title for k, c in PLACEMENT.items()}
    return Table("placement", "Placement of ELMo (the paper's Table 3)", columns, rows, NOTES)


Cells = dict[str, list[Group]]  # column -> groups, of which there is at least one


def _elmo_rows(
    runs: Runs, table: str, columns: dict[str, Column], varying: tuple[str, ...]
) -> list[dict[str, Cell]]:
    families: dict[str, Cells] = defaultdict(lambda: defaultdict(list))
    for group in runs.with_elmo:
        for name, column in columns.items():
            if column.matches(group.config["elmo"]):
                families[group.key(*varying)][name].append(group)
    rows: list[dict[str, Cell]] = []
    for task, chosen in _worth_showing(families).items():
        differing = differences([next(iter(cells.values()))[0] for cells in chosen])
        for cells, settings in zip(chosen, differing, strict=True):
            rows.append(_elmo_row(runs, cells, columns, _without(settings, varying)))
        rows += _paper_row(task, table)
    return rows


def _worth_showing(families: Mapping[str, Cells]) -> dict[str, list[Cells]]:
    """By task, the families that fill several columns, or else the single best candidate."""
    by_task: dict[str, list[Cells]] = defaultdict(list)
    for cells in families.values():
        by_task[next(iter(cells.values()))[0].task].append(cells)

    def preference(cells: Cells) -> tuple[int, tuple[float, float], bool, int]:
        group = next(iter(cells.values()))[0]
        return len(cells), group.amount, not group.is_untrained, len(group.seeds)

    return {
        task: [cells for cells in chosen if len(cells) > 1] or [max(chosen, key=preference)]
        for task, chosen in sorted(by_task.items())
    }


def _elmo_row(
    runs: Runs, cells: Cells, columns: dict[str, Column], settings: str
) -> dict[str, Cell]:
    group = next(iter(cells.values()))[0]
    baseline = runs.baseline(group)
    row = head(group) | {"settings": word(settings)}
    row["baseline"] = (
        scores([(baseline, "")], "dev")
        if baseline
        else missing(run_command(group, {"elmo": "none"}))
    )
    for name, column in columns.items():
        if name in cells:
            row[name] = dev_scores(cells[name])
        else:
            # conf/elmo has no option for lambda, so the run keeps the option it has.
            changes = {"elmo": _option(group), **column.changes}
            row[name] = missing(run_command(group, changes))
    return row


def _option(group: Group) -> str:
    """An ELMo option that mixes all layers: the group's, or else `paper`."""
    elmo = group.config["elmo"]
    return group.any_record.elmo if elmo.get("layers") == "all" else "paper"


def dev_scores(groups: list[Group]) -> Cell:
    """The dev scores of one group, or of several with the settings in which they differ."""
    flat = [flatten(group.config) for group in groups]
    keys = sorted({key for values in flat for key in values})
    different = [key for key in keys if len({str(values.get(key)) for values in flat}) > 1]
    named = {key.partition(".")[0] for key in different if key.endswith(".name")}
    different = [k for k in different if k.endswith(".name") or k.partition(".")[0] not in named]
    return scores(
        [
            (group, ", ".join(f"{key}={values.get(key)}" for key in different))
            for group, values in zip(groups, flat, strict=True)
        ],
        "dev",
    )


def _without(settings: str, varying: tuple[str, ...]) -> str:
    """The settings that differ between rows, without those that vary along a row."""
    parts = settings.split(", ") if settings else []
    return ", ".join(part for part in parts if part.partition("=")[0] not in varying)


def head(group: Group) -> dict[str, Cell]:
    return {
        "task": word(group.task),
        "metric": word(group.metric),
        "corpus": word(group.corpus),
        "words": word(group.any_record.words),
        "bilm": word(group.bilm),
        "source": word(group.source),
    }


def _paper_row(task: str, table: str) -> list[dict[str, Cell]]:
    published = ablations(table).get(task)
    if published is None:
        return []
    return [
        {"task": word(task), "corpus": word(PAPER), "words": word("glove")}
        | {column: number(value) for column, value in published.items()}
    ]
