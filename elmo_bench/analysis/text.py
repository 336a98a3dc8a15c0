"""Text to look for words in: one tokenised sentence a line, or occurrences with their senses."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from elmo_bench.analysis.senses import read_jsonl
from elmo_bench.data.files import numbered_lines


@dataclass(frozen=True)
class Line:
    """A sentence of a file; what is known of a word's sense stands at its place."""

    number: int
    tokens: tuple[str, ...]
    senses: dict[int, str] = field(default_factory=dict)
    lemmas: dict[int, str] = field(default_factory=dict)

    def places(self, word: str) -> list[int]:
        """Where the word stands, in upper or lower case, or any form where lemmas are known."""
        wanted = word.casefold()
        return [
            place
            for place, token in enumerate(self.tokens)
            if token.casefold() == wanted or self.lemmas.get(place, "").casefold() == wanted
        ]


def read_lines(path: Path) -> Iterator[Line]:
    """Stream the sentences of a file, plain or .gz; a .jsonl file has senses.

    A sense is of one place, so other occurrences in a sentence of a .jsonl file count as unknown.
    """
    if ".jsonl" in path.suffixes:
        for number, example in read_jsonl(path):
            place = example.first
            yield Line(number, example.tokens, {place: example.senses[0]}, {place: example.lemma})
        return
    for number, text in numbered_lines(path):
        if tokens := tuple(text.split()):
            yield Line(number, tokens)


def pick_lines(path: Path, numbers: Collection[int]) -> dict[int, Line]:
    """Some lines of a file by number, read no further than needed."""
    wanted = set(numbers)
    found: dict[int, Line] = {}
    for line in read_lines(path) if wanted else ():
        if line.number in wanted:
            found[line.number] = line
            if len(found) == len(wanted):
                break
    return found
