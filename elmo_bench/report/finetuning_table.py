"""A table of the paper's supplement: a biLM before and after fine-tuning on a task's text."""

from elmo_bench.report.ablations import head
from elmo_bench.report.cells import PAPER, Cell, Table, missing, number, score, word
from elmo_bench.report.groups import Group, Runs, mean_and_spread
from elmo_bench.report.paper import SOURCE, ablations
from elmo_bench.report.run_command import run_command

COLUMNS = {
    "task": "Task",
    "metric": "Metric",
    "corpus": "Corpus",
    "words": "Word vectors",
    "bilm": "biLM",
    "source": "Source",
    "perplexity_before": "Perplexity before",
    "perplexity_after": "Perplexity after",
    "before": "Dev score before",
    "after": "Dev score after",
}
NOTES = [
    "Perplexity of the biLM on the task's dev text, averaged over both directions.",
    "Dev scores in percent: mean ± standard deviation over seeds (number of seeds).",
    f"Paper: {SOURCE}.",
]
WITHOUT = ("bilm.finetune",)


def finetuning_table(runs: Runs) -> Table:
    """Perplexity and dev score before and after the biLM was fine-tuned on the task's text."""
    original = {
        group.key(*WITHOUT): group
        for group in runs.with_elmo
        if not group.config["bilm"].get("finetune")
    }
    rows: list[dict[str, Cell]] = []
    tuned = [group for group in runs.with_elmo if group.config["bilm"].get("finetune")]
    for group in tuned:
        rows.append(_row(group, original.get(group.key(*WITHOUT))))
    for task in dict.fromkeys(group.task for group in tuned):
        published = ablations("finetuning").get(task, {})
        if published:
            numbers = {name: number(value) for name, value in published.items()}
            rows.append({"task": word(task), "corpus": word(PAPER)} | numbers)
    rows.sort(key=lambda row: row["task"].text)
    return Table("finetuning", "biLM fine-tuned on the task's text", COLUMNS, rows, NOTES)


def _row(group: Group, before: Group | None) -> dict[str, Cell]:
    row = head(group)
    for when in ("before", "after"):
        row[f"perplexity_{when}"] = _perplexity(group, when)
    if before is None:
        chosen = "elmo=paper_finetuned" in group.any_record.overrides
        command = run_command(group, {"elmo": "paper"} if chosen else {"bilm.finetune": "false"})
        return row | {"before": missing(command), "after": score(group, "dev")}
    return row | {"before": score(before, "dev"), "after": score(group, "dev")}


def _perplexity(group: Group, when: str) -> Cell:
    measured = [record.perplexity[when]["mean"] for record in group.records if record.perplexity]
    return number(mean_and_spread(measured)[0], digits=1) if measured else Cell()
