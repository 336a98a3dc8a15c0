"""Entity F1 as computed by conlleval (2004-01-26), using seqeval.

seqeval's default (lenient) mode reads phrases as conlleval does: an `I-X` after `O`, after another
type or at the start of a sentence begins a phrase, `B-X I-Y` is two phrases, types may contain
hyphens, and with `zero_division=0` 0/0 is 0. Its strict mode (`mode="strict", scheme=IOB2`) drops
phrases that begin with `I-`, unlike conlleval. seqeval and conlleval differ in these cases, which
are handled here:
- no sentences: seqeval raises TypeError, conlleval prints zeros;
- sentences that are not `list`s (tuples, arrays): seqeval raises TypeError;
- `B` or `I-` without a type: seqeval invents the type `_`, conlleval uses an empty type;
- `S-X` and `E-X`: seqeval reads them as IOBES, conlleval does not know `S`;
- any other string: seqeval only warns, and uses its first letter as the prefix.
The last three are not IOB tags, so they are rejected.
"""

from collections.abc import Sequence
from typing import Any

from elmo_bench.errors import UserError
from elmo_bench.metrics.checks import check_same_length

TagSequences = Sequence[Sequence[str]]


def score_ner(gold: TagSequences, pred: TagSequences) -> dict[str, Any]:
    """Precision, recall and F1 over all phrases, and `per_type` for types on either side.

    Tags are `O`, `B-X` and `I-X`, one list per sentence; phrases do not cross sentence boundaries.
    """
    # Imported here because seqeval imports scikit-learn, which takes seconds.
    from seqeval.metrics.sequence_labeling import get_entities, precision_recall_fscore_support

    check_same_length(gold, pred, "sentences")
    for index, (gold_tags, pred_tags) in enumerate(zip(gold, pred, strict=True)):
        _check_tags(gold_tags, f"gold sentence {index}")
        _check_tags(pred_tags, f"pred sentence {index}")
        check_same_length(gold_tags, pred_tags, "tags", place=f"sentence {index}")
    if not gold:
        return {**_percentages(0.0, 0.0, 0.0), "per_type": {}}

    sides = [list(tags) for tags in gold], [list(tags) for tags in pred]
    overall = precision_recall_fscore_support(*sides, average="micro", zero_division=0)
    # Without an average seqeval returns one number per type, sorted by type name.
    by_type = precision_recall_fscore_support(*sides, average=None, zero_division=0)
    types = sorted({name for side in sides for name, _, _ in get_entities(side)})
    per_type = {
        name: _percentages(*numbers) for name, *numbers in zip(types, *by_type[:3], strict=True)
    }
    return {**_percentages(*overall[:3]), "per_type": per_type}


def _check_tags(tags: Sequence[str], place: str) -> None:
    if isinstance(tags, str):
        raise UserError(f"{place} is the string {tags!r}, not a list of tags")
    for position, tag in enumerate(tags):
        if tag != "O" and (tag[:2] not in ("B-", "I-") or len(tag) == 2):
            raise UserError(f"{place}, word {position}: {tag!r} is neither O nor B-X nor I-X")


def _percentages(precision: float, recall: float, f1: float) -> dict[str, float]:
    return {
        "precision": 100 * float(precision),
        "recall": 100 * float(recall),
        "f1": 100 * float(f1),
    }
