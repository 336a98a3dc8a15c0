"""What a run gets right and wrong: by label, by kind of example, and next to its baseline."""

from collections.abc import Iterator

from elmo_bench.errors import UserError
from elmo_bench.records.labels import NONE, Change, changes
from elmo_bench.records.predictions import read_predictions
from elmo_bench.records.run import Record
from elmo_bench.report.cells import Cell, Table, word

NOTHING = "(none)"  # a label that was missed, or one that should not be there
MATRIX = 8  # labels of the largest matrix in a terminal
FREQUENT = 10  # confusions in a list
LABELS = {
    "label": "Label", "f1": "F1", "precision": "Precision", "recall": "Recall", "gold": "Gold",
    "predicted": "Predicted",
}  # fmt: skip


def label_tables(record: Record, baseline: Record | None, matrix: int = MATRIX) -> Iterator[Table]:
    """Yield the tables for which there is something to show.

    Args:
        record: Of the run.
        baseline: The same model without ELMo, or None.
        matrix: With more labels, the most frequent confusions are listed instead.
    """
    if record.labels:
        yield _labels_table(record)
        yield _matrix(record) if len(record.labels) <= matrix else _list(record)
    if record.kinds:
        yield _kinds_table(record)
    if baseline is not None and record.labels:
        found = changed_confusions(baseline, record)
        if found is not None and any(found):
            yield _changes_table(*found)


def changed_confusions(
    baseline: Record, record: Record
) -> tuple[list[Change], list[Change]] | None:
    """The confusions that ELMo mends and makes; None if the labels of a run were not kept."""
    theirs, ours = read_predictions(baseline), read_predictions(record)
    if theirs is None or ours is None or len(theirs.lines) != len(ours.lines):
        return None
    try:
        before, after = theirs.labels, ours.labels
    except UserError:
        return None  # a damaged file; the tables do without it
    return changes(before, after) if any(before) and any(after) else None


def _labels_table(record: Record) -> Table:
    by_frequency = sorted(record.labels.items(), key=lambda item: (-item[1]["gold"], item[0]))
    rows = [
        {"label": word(label), **{key: _number(key, values) for key in list(LABELS)[1:]}}
        for label, values in by_frequency
    ]
    return Table("labels", "Test scores by label", LABELS, rows, narrow=("predicted", "precision"))


def _number(key: str, values: dict[str, float | int]) -> Cell:
    value = values.get(key, 0)
    return Cell(f"{value:,.0f}" if key in ("gold", "predicted") else f"{value:.1f}", {"": value})


def _named(label: str) -> str:
    return NOTHING if label == NONE else label


def _matrix(record: Record) -> Table:
    confusion = record.confusion
    labels = [*record.labels]
    if NONE in confusion or any(NONE in row for row in confusion.values()):
        labels.append(NONE)
    columns = {"label": "Gold \\ predicted", **{f"to {label}": _named(label) for label in labels}}
    rows = []
    for gold in labels:
        row = {"label": word(_named(gold))}
        for predicted in labels:
            count = confusion.get(gold, {}).get(predicted, 0)
            # Nobody counts the places that neither side labels.
            empty = gold == NONE == predicted
            row[f"to {predicted}"] = Cell() if empty else Cell(f"{count:,}", {"": count})
        rows.append(row)
    return Table("confusion", "Confusions on the test split", columns, rows, narrow=())


def _list(record: Record) -> Table:
    wrong = [
        Change(gold, predicted, count)
        for gold, row in record.confusion.items()
        for predicted, count in row.items()
        if gold != predicted
    ]
    wrong.sort(key=lambda change: (-change.times, change.gold, change.mistaken))
    title = "Most frequent confusions on the test split"
    columns = {"gold": "Gold", "mistaken": "Predicted", "count": "Count"}
    return Table("confusion", title, columns, [_row(one) for one in wrong[:FREQUENT]], narrow=())


def _row(change: Change) -> dict[str, Cell]:
    return {
        "gold": word(_named(change.gold)),
        "mistaken": word(_named(change.mistaken)),
        "count": Cell(f"{change.times:,}", {"": change.times}),
    }


def _changes_table(mended: list[Change], made: list[Change]) -> Table:
    columns = {"what": "ELMo", "gold": "Gold", "mistaken": "Mistaken for", "count": "Count"}
    rows = [
        {"what": word(what), **_row(change)}
        for what, found in (("mends", mended), ("makes", made))
        for change in found[:FREQUENT]
    ]
    total = ", ".join(
        f"{what} {sum(change.times for change in found):,}"
        for what, found in (("mends", mended), ("makes", made))
    )
    title = f"Confusions that the baseline makes and ELMo does not, and the reverse: {total}"
    return Table("changes", title, columns, rows, narrow=())


def _kinds_table(record: Record) -> Table:
    columns = {"kind": "Kind", "examples": "Examples", "score": record.metric}
    rows = [
        {
            "kind": word(kind),
            "examples": _number("gold", {"gold": values.get("examples", 0)}),
            "score": _number(record.metric, values),
        }
        for kind, values in sorted(record.kinds.items(), key=lambda kv: -kv[1].get("examples", 0))
    ]
    return Table("kinds", "Test scores by kind of example", columns, rows, narrow=())
