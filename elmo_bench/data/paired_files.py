"""Pairing a prediction file with its gold file: the same texts in the same order."""

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from elmo_bench.data.example import Example
from elmo_bench.data.files import DataError


def same_tokens(gold: Example, predicted: Example) -> bool:
    """Whether two examples have the same tokens in the same segments."""
    return gold.segments == predicted.segments


def paired(
    gold: Iterable[Example],
    predicted: Iterable[Example],
    path: Path,
    may_lack: Callable[[Example], bool],
    fits: Callable[[Example, Example], bool] = same_tokens,
) -> Iterator[tuple[Example, Example]]:
    """Yield pairs of gold and predicted examples.

    Args:
        gold: The examples of the gold file.
        predicted: The examples of the prediction file, in the order of gold.
        path: The prediction file.
        may_lack: Whether the prediction file may leave a gold example out.
        fits: Whether a predicted example belongs to a gold example that may be left out.
    """
    rest = iter(predicted)
    theirs = next(rest, None)
    count = 0
    for ours in gold:
        if may_lack(ours) and not (theirs is not None and fits(ours, theirs)):
            continue
        if theirs is None:
            raise DataError(path, None, f"ends after {count} examples, before {ours.id} of gold")
        check_same_tokens(ours, theirs, path)
        yield ours, theirs
        theirs = next(rest, None)
        count += 1
    if theirs is not None:
        raise DataError(path, None, f"continues with {theirs.id}, which gold does not have there")


def check_same_tokens(gold: Example, predicted: Example, path: Path) -> None:
    """Raise unless two examples have the same tokens in the same segments."""
    if same_tokens(gold, predicted):
        return
    tokens = [[token for segment in x.segments for token in segment] for x in (gold, predicted)]
    for ours, theirs in zip_longest(*tokens, fillvalue="nothing"):
        if ours != theirs:
            problem = f"{predicted.id}: {theirs!r} where gold has {ours!r} ({gold.id})"
            raise DataError(path, None, problem)
    raise DataError(path, None, f"{predicted.id}: sentence boundaries differ from gold ({gold.id})")
