"""Text to search: one tokenized sentence per line, or a .jsonl file of word senses."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from elmo_bench.analysis.senses import read_jsonl
from elmo_bench.data.files import numbered_lines


@dataclass(frozen=True)
class Line:
    """A sentence of a file, with the known senses and lemmas by token position."""

    number: int
    tokens: tuple[str, ...]
    senses: dict[int, str] = field(default_factory=dict)
    lemmas: dict[int, str] = field(default_factory=dict)

    def positions(self, word: str) -> list[int]:
        """Return the positions of the word in any case, and in any form where lemmas are known."""
        wanted = word.casefold()
        return [
            position
            for position, token in enumerate(self.tokens)
            if token.casefold() == wanted or self.lemmas.get(position, "").casefold() == wanted
        ]


def read_lines(path: Path) -> Iterator[Line]:
    """Stream the sentences of a file, plain or .gz; a .jsonl file has senses.

    Consecutive lines of a .jsonl file with the same tokens are one sentence with several known
    senses.
    """
    if ".jsonl" in path.suffixes:
        for tokens, group in groupby(read_jsonl(path), key=lambda row: row[1].tokens):
            rows = list(group)
            yield Line(
                number=rows[0][0],
                tokens=tokens,
                senses={example.first: example.senses[0] for _, example in rows},
                lemmas={example.first: example.lemma.partition("#")[0] for _, example in rows},
            )
        return
    for number, text in numbered_lines(path):
        if tokens := tuple(text.split()):
            yield Line(number, tokens)


def pick_lines(path: Path, numbers: Collection[int]) -> dict[int, Line]:
    """Return some lines of a file by number, reading no further than needed."""
    wanted = set(numbers)
    found: dict[int, Line] = {}
    for line in read_lines(path) if wanted else ():
        if line.number in wanted:
            found[line.number] = line
            if len(found) == len(wanted):
                break
    return found
