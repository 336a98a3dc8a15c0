"""A table of the paper's supplement: a biLM before and after fine-tuning on a task's text."""

from elmo_bench.report.ablations import head
from elmo_bench.report.cells import PAPER, Cell, Table, missing, number, score, word
from elmo_bench.report.groups import Group, Runs, mean_and_spread
from elmo_bench.report.paper import SOURCE, ablations
from elmo_bench.report.run_command import run_command

COLUMNS = {
    "task": "Task",
    "text": "Text",
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
PARTS = ("contexts", "questions")  # of squad, which the paper measured apart


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
        row = _row(group, original.get(group.key(*WITHOUT)))
        rows += [row | _perplexities(group, text) for text in _texts(group)]
    for task in dict.fromkeys(group.task for group in tuned):
        rows += [_paper_row(task, text) for text in ("", *PARTS) if _published(task, text)]
    rows.sort(key=lambda row: (row["task"].text, row["text"].text))
    return Table("finetuning", "biLM fine-tuned on the task's text", COLUMNS, rows, NOTES)


def _row(group: Group, before: Group | None) -> dict[str, Cell]:
    row = head(group)
    if before is None:
        chosen = "elmo=paper_finetuned" in group.any_record.overrides
        command = run_command(group, {"elmo": "paper"} if chosen else {"bilm.finetune": "false"})
        return row | {"before": missing(command), "after": score(group, "dev")}
    return row | {"before": score(before, "dev"), "after": score(group, "dev")}


def _texts(group: Group) -> list[str]:
    """The parts of the task's text that were measured, or "" for all of it."""
    measured = {key for record in group.records for key in record.perplexity}
    return [part for part in PARTS if f"{part} before" in measured] or [""]


def _perplexities(group: Group, text: str) -> dict[str, Cell]:
    cells = {"text": word(text)}
    for when in ("before", "after"):
        key = f"{text} {when}".strip()
        means = [record.perplexity[key]["mean"] for record in group.records if record.perplexity]
        cells[f"perplexity_{when}"] = (
            number(mean_and_spread(means)[0], digits=1) if means else Cell()
        )
    return cells


def _published(task: str, text: str) -> dict[str, float]:
    return ablations("finetuning").get(f"{task} {text}".strip(), {})


def _paper_row(task: str, text: str) -> dict[str, Cell]:
    numbers = {name: number(value) for name, value in _published(task, text).items()}
    return {"task": word(task), "text": word(text), "corpus": word(PAPER)} | numbers
