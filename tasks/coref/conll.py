"""Writing clusters as a CoNLL-2012 file for the official scorer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elmo_bench.data.example import Example

Cluster = Sequence[Sequence[int]]


def write_conll(examples: Sequence[Example], predictions: Sequence[Any], path: Path) -> None:
    """Write documents with their predicted clusters; unknown columns are `-` or `*`."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for example, clusters in zip(examples, predictions, strict=True):
            name, part = example.target.document, example.target.part
            file.write(f"#begin document ({name}); part {part:03d}\n")
            cells = iter(brackets(clusters, sum(map(len, example.segments))))
            speakers = iter(example.target.speakers)
            for sentence in example.segments:
                for index, word in enumerate(sentence):
                    known = f"{name} {part} {index} {word} - * - - - {next(speakers)} *"
                    file.write(f"{known} {next(cells)}\n")
                file.write("\n")
            file.write("#end document\n")


def brackets(clusters: Sequence[Cluster], num_words: int) -> list[str]:
    """The coreference column: `(3` where a mention of cluster 3 begins, `3)` where it ends."""
    opened: list[list[tuple[int, int]]] = [[] for _ in range(num_words)]
    closed: list[list[tuple[int, int]]] = [[] for _ in range(num_words)]
    for number, cluster in enumerate(clusters):
        for first, last in cluster:
            opened[first].append((last, number))
            if last != first:
                closed[last].append((first, number))
    cells = []
    for word in range(num_words):
        # The outer of two mentions opens first and closes last.
        cell = [f"({number}" + ")" * (last == word) for last, number in sorted(opened[word])[::-1]]
        cell += [f"{number})" for _, number in sorted(closed[word])[::-1]]
        cells.append("|".join(cell) or "-")
    return cells
