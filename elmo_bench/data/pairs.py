"""Pairing a prediction file with its gold file: the same texts in the same order."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from elmo_bench.data.files import DataError
from elmo_bench.example import Example


def paired(
    gold: Iterable[Example], predicted: Iterable[Example], path: Path
) -> Iterator[tuple[Example, Example]]:
    """Yield gold and predicted examples together; `path` is the prediction file."""
    for number, (ours, theirs) in enumerate(zip_longest(gold, predicted), start=1):
        if theirs is None:
            raise DataError(path, None, f"ends after {number - 1} examples, gold goes on")
        if ours is None:
            raise DataError(path, None, f"goes on with {theirs.id} after gold's {number - 1}")
        check_same_tokens(ours, theirs, path)
        yield ours, theirs


def check_same_tokens(gold: Example, predicted: Example, path: Path) -> None:
    """Raise unless two examples have the same tokens in the same segments."""
    if gold.segments == predicted.segments:
        return
    tokens = [[token for segment in x.segments for token in segment] for x in (gold, predicted)]
    for ours, theirs in zip_longest(*tokens, fillvalue="nothing"):
        if ours != theirs:
            problem = f"{predicted.id}: {theirs!r} where gold has {ours!r} ({gold.id})"
            raise DataError(path, None, problem)
    raise DataError(path, None, f"{predicted.id}: sentences end elsewhere than in gold ({gold.id})")
