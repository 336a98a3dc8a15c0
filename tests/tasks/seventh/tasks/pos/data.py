"""Tagged sentences, one per line: the/DET dog/NOUN barks/VERB."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from elmo_bench.data.example import Example
from elmo_bench.data.files import DataError, numbered_lines


def read(path: Path) -> Iterator[Example]:
    """Read one example per line; a word may itself contain slashes."""
    for number, line in numbered_lines(path):
        pairs = [pair.rpartition("/") for pair in line.split()]
        if not pairs or not all(word and tag for word, _, tag in pairs):
            raise DataError(path, number, f"{line!r}, expected word/TAG word/TAG ...")
        words, _, tags = zip(*pairs, strict=True)
        yield Example(f"{path.name}:{number}", (words,), tags)


def write(examples: Sequence[Example], predictions: Sequence[Sequence[str]], path: Path) -> None:
    """Write predicted tags in the same format."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for example, tags in zip(examples, predictions, strict=True):
            pairs = zip(example.segments[0], tags, strict=True)
            file.write(" ".join(f"{word}/{tag}" for word, tag in pairs) + "\n")
