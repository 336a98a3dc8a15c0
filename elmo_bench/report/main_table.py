"""The paper's Table 1 from the recorded runs, and the list of all groups of runs."""

from collections import defaultdict
from collections.abc import Mapping

from elmo_bench.report.cells import NARROW, Cell, Table, gain, missing, probability, score, word
from elmo_bench.report.gain import error_reduction
from elmo_bench.report.groups import (
    Group,
    Runs,
    differences,
    mean_and_spread,
    with_most_data,
)
from elmo_bench.report.paper import SOURCE, authors_finetuned, published
from elmo_bench.report.run_command import has_usual_elmo, options, run_command

MAIN = {
    "task": "Task",
    "metric": "Metric",
    "corpus": "Corpus",
    "words": "Word vectors",
    "bilm": "Encoder",
    "source": "Source",
    "settings": "Differing settings",
    "baseline": "Baseline",
    "elmo": "+ELMo",
    "gain": "Gain abs. / rel.",
    "p": "p",
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
NARROW_MAIN = ("paper", *NARROW[:-2], "finetuned", "settings", "p", "corpus")
SCORES = "Scores in percent: mean ± standard deviation over seeds (number of seeds)."
GAIN = "Gain: absolute / relative error reduction, over the seeds that baseline and +ELMo share."


def main_table(runs: Runs, tasks: list[str] | None = None) -> Table:
    """Table 1: test scores with and without ELMo.

    Args:
        runs: The groups to compare.
        tasks: Tasks that get a row even without runs; None for all tasks.
    """
    chosen = headline_groups(runs)
    finetuned = {group.key(FINETUNE): group for group in runs.with_elmo if is_finetuned(group)}
    rows = [
        _main_row(runs, group, settings) | _finetuned(group, finetuned)
        for group, settings in zip(chosen, differences(chosen), strict=True)
    ]
    compared = {id(runs.baseline(group)) for group in chosen}
    unpaired = [
        group
        for group in with_most_data(runs.groups)
        if group.is_baseline and id(group) not in compared
    ]
    rows += [
        _baseline_row(group, settings)
        for group, settings in zip(unpaired, differences(unpaired), strict=True)
    ]
    for task in set(options("task") if tasks is None else tasks) - {
        row["task"].text for row in rows
    }:
        command = missing(f"python run.py task={task}")
        rows.append({"task": word(task), "baseline": command, "elmo": command, **_paper(task)})
    rows.sort(key=lambda row: [row[key].text if key in row else "" for key in list(MAIN)[:6]])
    notes = [SCORES, GAIN, f"Paper: {SOURCE}."]
    if any("p" in row for row in rows):
        from elmo_bench.report.significance import TEST

        notes.append(TEST)
    if any("finetuned" in row for row in rows):
        names = ", ".join(sorted(filter(authors_finetuned, options("task"))))
        notes.append(f"The authors' scores are with a fine-tuned biLM for: {names}.")
    beside = [finetuned.get(group.key(FINETUNE)) for group in chosen]
    left_out = len([group for group in runs.with_elmo if group not in [*chosen, *beside]])
    if left_out:
        notes.append(f"Groups of runs that are only in other tables (--tables all): {left_out}.")
    return Table("main", "Test scores with and without ELMo", MAIN, rows, notes, NARROW_MAIN)


def headline_groups(runs: Runs) -> list[Group]:
    """The ELMo groups of Table 1: those on the most data with the task's settings of the paper.

    If a task, corpus, kind of word vectors and biLM have no such group, all their groups are taken.
    """
    by_context: dict[tuple[str, ...], list[Group]] = defaultdict(list)
    for group in with_most_data(runs.with_elmo):
        by_context[
            group.task, group.corpus, group.any_record.words, group.bilm, group.source
        ].append(group)
    chosen: list[Group] = []
    for groups in by_context.values():
        named = [group for group in groups if group.any_record.elmo == "paper"]
        usual = [group for group in named if _is_usual(group)] if len(named) > 1 else named
        chosen += usual or named or groups
    return chosen


def _is_usual(group: Group) -> bool:
    """Whether the ELMo settings are those of the task's yaml and the biLM is not fine-tuned."""
    return not is_finetuned(group) and has_usual_elmo(group.any_record)


def is_finetuned(group: Group) -> bool:
    """Whether the biLM was fine-tuned on the task's text."""
    return bool(group.config.get("bilm", {}).get("finetune"))


def _finetuned(group: Group, finetuned: Mapping[str, Group]) -> dict[str, Cell]:
    """The same runs with a fine-tuned biLM, or the command for them, if any task has such runs."""
    if is_finetuned(group) or group.is_untrained:
        return {}
    if found := finetuned.get(group.key(FINETUNE)):
        return {"finetuned": score(found, "test")}
    if finetuned and group.any_record.elmo == "paper" and authors_finetuned(group.task):
        return {"finetuned": missing(run_command(group, {"elmo": "paper_finetuned"}))}
    return {}


def paired_seeds(baseline: Group | None, group: Group) -> list[int]:
    """The seeds that have a test score in both groups."""
    pair = [{run.seed for run in one.scored("test")} for one in (baseline, group) if one]
    return sorted(set.intersection(*pair)) if baseline else []


def _main_row(runs: Runs, group: Group, settings: str) -> dict[str, Cell]:
    baseline = runs.baseline(group)
    if group.any_record.elmo != "paper":
        settings = ", ".join(filter(None, (f"elmo={group.any_record.elmo}", settings)))
    row = _head(group, settings) | {"elmo": score(group, "test"), **_paper(group.task)}
    if baseline is None:
        command = run_command(group, {"elmo": "none"})
        return row | {"baseline": missing(command)}
    row["baseline"] = score(baseline, "test")
    seeds = paired_seeds(baseline, group)
    if seeds:
        before, _ = mean_and_spread(baseline.scores("test", seeds))
        after, _ = mean_and_spread(group.scores("test", seeds))
        row["gain"] = gain(before, after)
    p = _p_value(baseline, group) if seeds else None
    return row if p is None else row | {"p": probability(p)}


def _baseline_row(baseline: Group, settings: str) -> dict[str, Cell]:
    command = run_command(baseline, {"elmo": "paper"})
    return _head(baseline, settings) | {
        "baseline": score(baseline, "test"),
        "elmo": missing(command),
        **_paper(baseline.task),
    }


def _p_value(baseline: Group, group: Group) -> float | None:
    from elmo_bench.report.significance import compare_runs

    with_seed = {record.seed: record for record in baseline.records}
    pairs = [(with_seed[r.seed], r) for r in group.records if r.seed in with_seed]
    if any(record.predictions is None for pair in pairs for record in pair):
        return None
    return compare_runs(pairs)


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
        for group, settings in zip(runs.groups, differences(runs.groups), strict=True)
    ]
    notes = [SCORES, "The runs of a row differ only in the seed."]
    return Table("groups", "All groups of runs", GROUPS, rows, notes)
