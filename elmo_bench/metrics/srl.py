"""Argument F1 as computed by srl-eval.pl (CoNLL-2005, 2005/04/21)."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from elmo_bench.errors import UserError
from elmo_bench.metrics.checks import check_same_length, field
from elmo_bench.metrics.ratios import Ratio, precision_recall_f1

# A label and all pieces of the argument: one, or several if C-X continues X.
Argument = tuple[str, tuple[tuple[int, int], ...]]
CONTINUATION = "C-"
PREDICATE_LABEL = "V"  # given to the systems, so never counted


def score_srl(
    gold: Sequence[Mapping[str, Any]], pred: Sequence[Mapping[str, Any]]
) -> dict[str, float]:
    """Precision, recall and F1 over all arguments of all propositions, V excluded.

    A sentence is `{"words": [...], "propositions": [{"predicate": i, "args": [[start,
    end_inclusive, label], ...]}]}`. An argument is correct if its label and all its pieces are.
    As in srl-eval.pl, propositions are paired by predicate: if pred lacks one, its arguments count
    as missed; if gold lacks one, it is skipped. A sentence without words ends the evaluation.
    """
    check_same_length(gold, pred, "sentences")
    correct = predicted = expected = 0
    for index, (gold_sentence, pred_sentence) in enumerate(zip(gold, pred, strict=True)):
        words = _check_same_words(gold_sentence, pred_sentence, index)
        if not words:
            break
        gold_arguments = _arguments_by_predicate(gold_sentence, f"gold sentence {index}")
        pred_arguments = _arguments_by_predicate(pred_sentence, f"pred sentence {index}")
        for predicate, arguments in gold_arguments.items():
            answers = pred_arguments.get(predicate, set())
            correct += len(arguments & answers)
            predicted += len(answers)
            expected += len(arguments)
    return precision_recall_f1(Ratio(correct, predicted), Ratio(correct, expected))


def join_continuations(spans: Iterable[tuple[int, int, str]]) -> set[Argument]:
    """Build the arguments of one proposition from its spans.

    `C-X` continues the last `X` that starts before it; without one it becomes an `X` itself, which
    further `C-X` continue. Adjacent pieces are not merged. `C-R-X` continues `R-X`. V and its
    pieces are excluded.
    """
    pieces: list[tuple[str, list[tuple[int, int]]]] = []
    latest: dict[str, list[tuple[int, int]]] = {}  # label -> pieces of its last argument
    for start, end, label in sorted(spans):
        continued = label.removeprefix(CONTINUATION)
        if continued != label and continued in latest:
            latest[continued].append((start, end))
        else:
            latest[continued] = [(start, end)]
            pieces.append((continued, latest[continued]))
    return {(label, tuple(parts)) for label, parts in pieces if label != PREDICATE_LABEL}


def _arguments_by_predicate(sentence: Mapping[str, Any], place: str) -> dict[int, set[Argument]]:
    length = len(sentence["words"])
    arguments: dict[int, set[Argument]] = {}
    for number, proposition in enumerate(field(sentence, "propositions", place)):
        spot = f"{place}, proposition {number}"
        predicate = field(proposition, "predicate", spot)
        if not 0 <= predicate < length:
            raise UserError(f"{spot}: predicate {predicate} is outside the {length} words")
        if predicate in arguments:
            raise UserError(f"{spot}: a second proposition of predicate {predicate}")
        spans = _checked_spans(field(proposition, "args", spot), length, spot)
        arguments[predicate] = join_continuations(spans)
    return arguments


def _checked_spans(args: Any, length: int, place: str) -> list[tuple[int, int, str]]:
    labels: dict[tuple[int, int], str] = {}
    for arg in args:
        if len(arg) != 3 or not 0 <= arg[0] <= arg[1] < length or not arg[2]:
            raise UserError(f"{place}: {arg} is not a [start, end, label] within {length} words")
        # If a span has two labels, srl-eval.pl keeps the inner bracket, which is written later.
        labels[arg[0], arg[1]] = arg[2]
    spans = sorted((start, end, label) for (start, end), label in labels.items())
    for left, right in pairwise(spans):
        # srl-eval.pl would treat an inner span as a piece of the outer one.
        if right[0] <= left[1]:
            raise UserError(f"{place}: the arguments {left} and {right} overlap")
    return spans


def _check_same_words(
    gold: Mapping[str, Any], pred: Mapping[str, Any], index: int
) -> Sequence[str]:
    gold_words = field(gold, "words", f"gold sentence {index}")
    pred_words = field(pred, "words", f"pred sentence {index}")
    check_same_length(gold_words, pred_words, "words", place=f"sentence {index}")
    for position, (ours, theirs) in enumerate(zip(gold_words, pred_words, strict=True)):
        if ours != theirs:
            raise UserError(
                f"sentence {index}, word {position}: gold has {ours!r} but pred has {theirs!r}"
            )
    return gold_words
