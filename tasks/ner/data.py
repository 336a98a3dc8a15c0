"""Named entities from columns, `token<TAB>tag` (WNUT) to CoNLL-2003's four, or Hub rows."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from elmo_bench.data.example import Example
from elmo_bench.data.files import DataError, numbered_lines
from elmo_bench.data.tags import to_iob2

_GAP = re.compile(r" +")
_TAG = re.compile(r"O|[BI]-\S+")
_MAX_COLUMNS = 4

# The order of lhoestq/conll2003, for copies that lack the names of their labels.
HUB_TAGS = (
    "O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC",
)  # fmt: skip


def read(path: Path) -> Iterator[Example]:
    """Read a column file: the token first, the tag last, blank lines between sentences.

    IOB1 and IOB2 both become IOB2. -DOCSTART- lines are left out, as is usual with conlleval.
    """
    name = path.name.removesuffix(".gz")
    found = False
    for line, rows in _sentences(path):
        found = True
        tokens = tuple(row[0] for row in rows)
        yield Example(f"{name}:{line}", (tokens,), tuple(to_iob2([row[-1] for row in rows])))
    if not found:
        raise DataError(path, None, "the file contains no sentences")


def _sentences(path: Path) -> Iterator[tuple[int, list[list[str]]]]:
    rows: list[list[str]] = []
    first, width = 0, 0
    for number, line in numbered_lines(path):
        row = line.split("\t") if "\t" in line else _GAP.split(line.strip(" "))
        if not line.strip() or row[0] == "-DOCSTART-":
            if rows:
                yield first, rows
            rows = []
            continue
        width = width or len(row)
        _check(path, number, row, width)
        first = first if rows else number
        rows.append(row)
    if rows:
        yield first, rows


def _check(path: Path, number: int, row: list[str], width: int) -> None:
    if not 2 <= len(row) <= _MAX_COLUMNS:
        raise DataError(path, number, f"{len(row)} columns, expected 2 to {_MAX_COLUMNS}")
    if len(row) != width:
        raise DataError(path, number, f"{len(row)} columns, but the file began with {width}")
    if not all(field.strip() for field in row):
        raise DataError(path, number, f"an empty column: {row}")
    if not _TAG.fullmatch(row[-1]):
        raise DataError(path, number, f"tag {row[-1]!r}, expected O, B-type or I-type")


def write(examples: Sequence[Example], predictions: Sequence[Sequence[str]], path: Path) -> None:
    """Write token, gold tag and predicted tag, as conlleval expects them, but with tabs."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for example, predicted in zip(examples, predictions, strict=True):
            for row in zip(example.segments[0], example.target, predicted, strict=True):
                file.write("\t".join(row) + "\n")
            file.write("\n")


def from_hub(rows: Iterable[Mapping[str, Any]]) -> Iterator[Example]:
    """Convert rows with `tokens` and `ner_tags`, whose labels are names or CoNLL-2003's numbers."""
    for number, row in enumerate(rows):
        tokens = tuple(row["tokens"])
        if not tokens or tokens[0] == "-DOCSTART-":
            continue
        tags = [HUB_TAGS[tag] if isinstance(tag, int) else tag for tag in row["ner_tags"]]
        if len(tags) != len(tokens) or not all(_TAG.fullmatch(tag) for tag in tags):
            raise DataError(
                f"Hub dataset, row {number}", None, f"{len(tokens)} tokens with tags {tags}"
            )
        yield Example(str(row.get("id", number)), (tokens,), tuple(to_iob2(tags)))
