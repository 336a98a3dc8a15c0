"""Encoders beside each other: the same models on the same data with the layers of each."""

from collections import defaultdict
from collections.abc import Iterable

from elmo_bench.report.ablations import head
from elmo_bench.report.cells import UNCONVERGED, Cell, Table, final_score, missing, word
from elmo_bench.report.differences import differences
from elmo_bench.report.groups import ENCODER_KEYS, Group, Runs
from elmo_bench.report.headline import headline_groups, is_finetuned
from elmo_bench.report.main_table import SCORES
from elmo_bench.report.run_command import base_overrides, run_command

HEAD = {
    "task": "Task",
    "metric": "Metric",
    "corpus": "Corpus",
    "words": "Word vectors",
    "source": "Source",
    "settings": "Differing settings",
    "baseline": "Baseline",
}
Family = dict[str, Group]  # runs that differ only in the encoder, by its name


def encoder_table(runs: Runs) -> Table:
    """Test scores without ELMo and with each encoder, where several trained ones were used.

    Corpora of one kind (the mini benchmark, the user's files) are to have the same encoders.
    """
    by_kind: dict[str, dict[str, Family]] = defaultdict(lambda: defaultdict(dict))
    for group in headline_groups(runs):
        if not is_finetuned(group):
            kind = str(group.config.get("data", {}).get("kind"))
            by_kind[kind][group.key(*ENCODER_KEYS)].setdefault(group.bilm, group)
    rows: list[dict[str, Cell]] = []
    columns = dict(HEAD)
    for families in by_kind.values():
        encoders = _encoders(families.values())
        if sum(not group.is_untrained for group in encoders.values()) > 1:
            firsts = [next(iter(family.values())) for family in families.values()]
            settings = differences(firsts, without=ENCODER_KEYS)
            for family, differing in zip(families.values(), settings, strict=True):
                rows.append(_row(runs, family, encoders, differing))
            columns |= _titles(encoders)
    notes = [SCORES, "The runs of a row differ only in the encoder; the control's is untrained."]
    if any("unconverged" in cell.values for row in rows for cell in row.values()):
        notes.append(UNCONVERGED)
    return Table("encoders", "Test scores by encoder", columns, rows, notes)


def _encoders(families: Iterable[Family]) -> Family:
    """A group of each encoder, untrained ones first, biLMs before transformers."""
    found = {name: group for family in families for name, group in family.items()}
    order = sorted(found, key=lambda n: (not found[n].is_untrained, found[n].is_transformer, n))
    return {name: found[name] for name in order}


def _row(runs: Runs, family: Family, encoders: Family, settings: str) -> dict[str, Cell]:
    group = next(iter(family.values()))
    baseline = runs.baseline(group)
    row = head(group) | {"settings": word(settings), "bilm": Cell()}
    row["baseline"] = (
        final_score(baseline) if baseline else missing(run_command(group, {"elmo": "none"}))
    )
    for name, example in encoders.items():
        if name in family:
            row[_column(name)] = final_score(family[name])
        else:
            row[_column(name)] = missing(run_command(group, _choice(example)))
    return row


def _choice(group: Group) -> dict[str, str]:
    """The overrides that choose the encoder of a group."""
    words = [word for word in base_overrides(group.any_record) if word.startswith("bilm")]
    chosen = {key: value for key, _, value in (word.partition("=") for word in words)}
    return {"bilm": group.any_record.bilm or "", **chosen}


def _column(name: str) -> str:
    return f"encoder_{name}"


def _titles(encoders: Family) -> dict[str, str]:
    untrained = [group for group in encoders.values() if group.is_untrained]
    titles = {}
    for name, group in encoders.items():
        if group.is_untrained:
            titles[_column(name)] = "Control" if len(untrained) == 1 else f"Control ({name})"
        else:
            titles[_column(name)] = name if group.is_transformer else f"ELMo ({name})"
    return titles
