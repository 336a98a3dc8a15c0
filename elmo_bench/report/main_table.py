"""The paper's Table 1 from the recorded runs, and the list of all groups of runs."""

from collections.abc import Mapping

from elmo_bench.report.cells import (
    NARROW,
    UNCONVERGED,
    Cell,
    Table,
    final_score,
    gain,
    missing,
    probability,
    score,
    word,
)
from elmo_bench.report.differences import differences
from elmo_bench.report.gain import error_reduction
from elmo_bench.report.groups import Group, Runs, mean_and_spread, with_most_data
from elmo_bench.report.headline import headline_groups, is_finetuned, p_value_of, paired_seeds
from elmo_bench.report.paper import SOURCE, authors_finetuned, published
from elmo_bench.report.run_command import options, run_command

MAIN = {
    "task": "Task",
    "metric": "Metric",
    "corpus": "Corpus",
    "words": "Word vectors",
    "bilm": "Encoder",
    "source": "Source",
    "settings": "Differing settings",
    "baseline": "Baseline",
    "control": "Control",
    "elmo": "+ELMo",
    "gain": "Gain abs. / rel.",
    "p": "p",
    "p_control": "p to control",
    "finetuned": "+ELMo, biLM fine-tuned",
    "paper": "Paper",
}
GROUPS = {
    "task": "Task",
    "metric": "Metric",
    "corpus": "Corpus",
    "words": "Word vectors",
    "elmo": "ELMo",
    "bilm": "Encoder",
    "source": "Source",
    "settings": "Differing settings",
    "dev": "Dev",
    "test": "Test",
    "failed": "Failed seeds",
}
FINETUNE = "bilm.finetune"  # the setting in which the groups of one row differ
NARROW_MAIN = (
    "p_control", "paper", *NARROW[:-2], "finetuned", "settings", "control", "p", "corpus",
)  # fmt: skip
SCORES = "Scores in percent: mean ± standard deviation over seeds (number of seeds)."
GAIN = "Gain: absolute / relative error reduction, over the seeds that baseline and +ELMo share."
CONTROL = "Control: +ELMo with the same encoder left untrained."


def main_table(runs: Runs, tasks: list[str] | None = None) -> Table:
    """Table 1: test scores with and without ELMo.

    Args:
        runs: The groups to compare.
        tasks: Tasks that get a row even without runs; None for all tasks.
    """
    chosen = headline_groups(runs)
    controls = [control for group in chosen if (control := runs.control(group))]
    chosen = [group for group in chosen if group not in controls]
    finetuned = {group.key(FINETUNE): group for group in runs.with_elmo if is_finetuned(group)}
    rows = [
        _main_row(runs, group, settings) | _finetuned(group, finetuned)
        for group, settings in zip(chosen, differences(chosen), strict=True)
    ]
    rows += _baseline_rows(runs, chosen)
    rows += _tasks_without_runs(rows, tasks)
    rows.sort(key=lambda row: [row[key].text if key in row else "" for key in list(MAIN)[:6]])
    beside = [finetuned.get(group.key(FINETUNE)) for group in chosen]
    left_out = [g for g in runs.with_elmo if g not in [*chosen, *controls, *beside]]
    notes = _notes(rows, len(left_out), len(runs.all_groups) - len(runs.groups))
    return Table("main", "Test scores with and without ELMo", MAIN, rows, notes, NARROW_MAIN)


def _notes(rows: list[dict[str, Cell]], elsewhere: int, older: int) -> list[str]:
    notes = [SCORES, GAIN, f"Paper: {SOURCE}."]
    if any("control" in row for row in rows):
        notes.append(CONTROL)
    if any("unconverged" in cell.values for row in rows for cell in row.values()):
        notes.append(UNCONVERGED)
    if any("p" in row for row in rows):
        from elmo_bench.report.significance import TEST

        notes.append(TEST)
    if any("finetuned" in row for row in rows):
        names = ", ".join(sorted(filter(authors_finetuned, options("task"))))
        notes.append(f"The authors' scores are with a fine-tuned biLM for: {names}.")
    if elsewhere:
        notes.append(f"Groups of runs that are only in other tables (--tables all): {elsewhere}.")
    if older:
        notes.append(
            f"Groups of runs of an older version of the code, which are only listed "
            f"(--tables groups): {older}."
        )
    return notes


def _baseline_rows(runs: Runs, chosen: list[Group]) -> list[dict[str, Cell]]:
    """The baselines with which no row compares."""
    compared = {id(runs.baseline(group)) for group in chosen}
    unpaired = [
        group
        for group in with_most_data(runs.groups)
        if group.is_baseline and id(group) not in compared
    ]
    pairs = zip(unpaired, differences(unpaired), strict=True)
    return [_baseline_row(group, settings) for group, settings in pairs]


def _tasks_without_runs(
    rows: list[dict[str, Cell]], tasks: list[str] | None
) -> list[dict[str, Cell]]:
    wanted = set(options("task") if tasks is None else tasks)
    empty = {
        task: missing(f"python run.py task={task}")
        for task in wanted - {row["task"].text for row in rows}
    }
    return [
        {"task": word(task), "baseline": command, "elmo": command, **_paper(task)}
        for task, command in empty.items()
    ]


def _finetuned(group: Group, finetuned: Mapping[str, Group]) -> dict[str, Cell]:
    """The same runs with a fine-tuned biLM, or the command for them, if any task has such runs."""
    if is_finetuned(group) or group.is_untrained or group.is_transformer:
        return {}
    if found := finetuned.get(group.key(FINETUNE)):
        return {"finetuned": final_score(found)}
    if finetuned and group.any_record.elmo == "paper" and authors_finetuned(group.task):
        return {"finetuned": missing(run_command(group, {"elmo": "paper_finetuned"}))}
    return {}


def _main_row(runs: Runs, group: Group, settings: str) -> dict[str, Cell]:
    baseline = runs.baseline(group)
    if group.any_record.elmo != "paper":
        settings = ", ".join(filter(None, (f"elmo={group.any_record.elmo}", settings)))
    row = _head(group, settings) | {"elmo": final_score(group), **_paper(group.task)}
    if control := runs.control(group):
        row["control"] = final_score(control)
        row |= _p_value("p_control", control, group)
    if baseline is None:
        return row | {"baseline": missing(run_command(group, {"elmo": "none"}))}
    row["baseline"] = final_score(baseline)
    if seeds := paired_seeds(baseline, group):
        before, _ = mean_and_spread(baseline.scores("test", seeds))
        after, _ = mean_and_spread(group.scores("test", seeds))
        row["gain"] = gain(before, after)
    return row | _p_value("p", baseline, group)


def _p_value(column: str, baseline: Group, group: Group) -> dict[str, Cell]:
    p = p_value_of(baseline, group) if paired_seeds(baseline, group) else None
    return {} if p is None else {column: probability(p)}


def _baseline_row(baseline: Group, settings: str) -> dict[str, Cell]:
    command = run_command(baseline, {"elmo": "paper"})
    return _head(baseline, settings) | {
        "baseline": final_score(baseline),
        "elmo": missing(command),
        **_paper(baseline.task),
    }


def _paper(task: str) -> dict[str, Cell]:
    scores = published(task)
    if not scores:
        return {}
    before, after = scores["baseline"], scores["elmo"]
    reduction = error_reduction(before, after)
    text = f"{before:g} → {after:g} ({after - before:+.3g} / {reduction:+.3g} %)"
    return {"paper": Cell(text, {**scores, **gain(before, after).values})}


def _head(group: Group, settings: str) -> dict[str, Cell]:
    limit = group.config.get("data", {}).get("train_limit")
    if limit is not None and "data.train_limit" not in settings:
        settings = ", ".join(filter(None, (settings, f"data.train_limit={limit}")))
    return {
        "task": word(group.task),
        "metric": word(group.metric),
        "corpus": word(group.corpus),
        "words": word(group.any_record.words),
        "bilm": word(group.bilm),
        "source": word(group.source),
        "settings": word(settings),
    }


def groups_table(runs: Runs) -> Table:
    """Every group of runs, with the settings in which it differs from others of the same names."""
    rows = [
        _head(group, settings)
        | {
            "elmo": word(group.any_record.elmo),
            "dev": score(group, "dev"),
            "test": score(group, "test"),
            "failed": word(", ".join(str(record.seed) for record in group.failed)),
        }
        for group, settings in zip(runs.all_groups, differences(runs.all_groups), strict=True)
    ]
    notes = [SCORES, "The runs of a row differ only in the seed."]
    return Table("groups", "All groups of runs", GROUPS, rows, notes)
