"""Which groups of runs the main table and most figures are about, and what they compare."""

from collections import defaultdict

from elmo_bench.report.groups import Group, Runs, with_most_data
from elmo_bench.report.run_command import has_usual_elmo


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


def paired_seeds(baseline: Group | None, group: Group) -> list[int]:
    """The seeds that have a test score in both groups."""
    pair = [{run.seed for run in one.scored("test")} for one in (baseline, group) if one]
    return sorted(set.intersection(*pair)) if baseline else []


def p_value_of(baseline: Group, group: Group) -> float | None:
    """The p-value of the difference over shared seeds; None if predictions were not kept."""
    from elmo_bench.report.significance import compare_runs

    with_seed = {record.seed: record for record in baseline.records}
    pairs = [(with_seed[r.seed], r) for r in group.records if r.seed in with_seed]
    if any(record.predictions is None for pair in pairs for record in pair):
        return None
    return compare_runs(pairs)
