"""How many updates trainings took: to their best dev score, and to the baseline's best."""

from elmo_bench.report.ablations import HEAD, head
from elmo_bench.report.cells import NARROW, PAPER, UNCONVERGED, Cell, Table, missing, word
from elmo_bench.report.differences import differences
from elmo_bench.report.groups import Group, Runs
from elmo_bench.report.headline import headline_groups
from elmo_bench.report.paper import SOURCE, ablations
from elmo_bench.report.run_command import run_command
from elmo_bench.report.training import speed, to_best, unconverged

COLUMNS = HEAD | {
    "baseline": "Baseline: to its best",
    "elmo": "+ELMo: to its best",
    "reached": "+ELMo: to the baseline's best",
    "fewer": "Fewer updates",
}
NOTES = [
    "Updates (epochs) until the dev score was reached, which is known only at dev passes: means "
    "over seeds.",
    "Fewer updates: over the seeds in which +ELMo reaches the baseline's best dev score, if not in "
    "all with their number.",
    UNCONVERGED,
    f"Paper: {SOURCE}, in epochs.",
]


def update_table(runs: Runs) -> Table:
    """Section 5.4 of the paper: with ELMo, the baseline's best dev score takes fewer updates."""
    groups = [group for group in headline_groups(runs) if group.records]
    rows = [
        _row(runs, group, settings)
        for group, settings in zip(groups, differences(groups), strict=True)
    ]
    tasks = {group.task for group in groups}
    rows += [_paper_row(task) for task in sorted(tasks & ablations("updates").keys())]
    rows.sort(key=lambda row: row["task"].text)
    title = "Updates to the best dev score"
    narrow = (*NARROW[:-2], "elmo", "settings", "corpus")
    shortened = "epochs and numbers of seeds"
    return Table("updates", title, COLUMNS, rows, NOTES, narrow, shortened)


def _row(runs: Runs, group: Group, settings: str) -> dict[str, Cell]:
    row = head(group) | {"settings": word(settings), "elmo": _length(group)}
    baseline = runs.baseline(group)
    if baseline is None:
        return row | {"baseline": missing(run_command(group, {"elmo": "none"}))}
    row["baseline"] = _length(baseline)
    if not set(baseline.seeds) & set(group.seeds):
        return row
    found = speed(baseline, group)
    if found is None:
        return row | {"reached": word("never")}
    row["reached"] = Cell(f"{found.elmo:,.0f}", {"": found.elmo})
    some = "" if found.reached == found.seeds else f" ({found.reached} of {found.seeds})"
    values = {"": found.fewer, "n": found.reached}
    return row | {"fewer": Cell(f"{found.fewer:.0f} %{some}", values, short=f"{found.fewer:.0f} %")}


def _length(group: Group) -> Cell:
    """Updates and epochs to the best dev score."""
    length = to_best(group)
    if length is None:
        return Cell()
    mark = "*" if unconverged([group]) else ""
    return Cell(
        f"{length.updates:,.0f} ({length.epochs:.3g}){mark}",
        {"updates": length.updates, "epochs": length.epochs, "unconverged": unconverged([group])},
        short=f"{length.updates:,.0f}{mark}",
    )


def _paper_row(task: str) -> dict[str, Cell]:
    published = ablations("updates")[task]
    numbers = {
        "baseline": Cell(f"({published['baseline']})", {"epochs": published["baseline"]}),
        "reached": Cell(f"({published['reached']})", {"epochs": published["reached"]}),
        "fewer": Cell(f"{published['fewer']} %", {"": published["fewer"]}),
    }
    return {"task": word(task), "corpus": word(PAPER), **numbers}
