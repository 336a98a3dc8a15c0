"""Writing roles as a CoNLL-2012 file."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from elmo_bench.data.example import Example

Found = tuple[Example, Any]  # a predicate and its predicted arguments
PREDICATE = "Y"  # in place of the frameset, which is not predicted


def write_conll(examples: Sequence[Example], predictions: Sequence[Any], path: Path) -> None:
    """Write the sentences that have predicates; unknown columns are `-` or `*`."""
    found = zip(examples, predictions, strict=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for document, in_document in groupby(found, key=lambda one: _sentence_key(one)[0]):
            name, _, part = document.rpartition("_")
            file.write(f"#begin document ({name}); part {int(part):03d}\n")
            for _, in_sentence in groupby(in_document, key=_sentence_key):
                rows = _rows(sorted(in_sentence, key=lambda one: one[0].target.predicate))
                for index, row in enumerate(rows):
                    file.write(f"{name} {int(part)} {index} {row}\n")
                file.write("\n")
            file.write("#end document\n")


def _sentence_key(found: Found) -> tuple[str, str]:
    """The document and the sentence number, both taken from the example's id."""
    document, sentence, _ = found[0].id.rsplit(":", 2)
    return document, sentence


def _rows(found: Sequence[Found]) -> Iterator[str]:
    words = found[0][0].segments[0]
    predicates = {example.target.predicate for example, _ in found}
    columns = [brackets(arguments, len(words)) for _, arguments in found]
    for index, (word, *cells) in enumerate(zip(words, *columns, strict=True)):
        frameset = PREDICATE if index in predicates else "-"
        yield f"{word} - * - {frameset} - - * {' '.join(cells)} -"


def brackets(arguments: Iterable[Sequence[Any]], num_words: int) -> list[str]:
    """The column of a predicate: `(ARG0*` where an argument begins, `*)` where it ends."""
    cells = ["*"] * num_words
    for first, last, label in arguments:
        cells[first] = f"({label}{cells[first]}"
        cells[last] += ")"
    return cells
