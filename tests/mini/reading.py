"""Readers of the written files, for tests that count."""

from collections.abc import Iterator
from pathlib import Path

from elmo_bench.mini import statistics


def conll_documents(path: Path) -> Iterator[list[str]]:
    """Yield the lines of each document of a CoNLL-2012 file."""
    rows: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#begin"):
            rows = []
        elif line.startswith("#end"):
            yield rows
        else:
            rows.append(line)


def pos_tags(path: Path) -> Iterator[tuple[str, str]]:
    for rows in conll_documents(path):
        for line in rows:
            if line:
                yield line.split()[3], line.split()[4]


def labeled_pairs(folder: Path, split: str) -> list[dict[str, object]]:
    rows = statistics.json_lines(folder / f"snli/{split}.jsonl")
    return [row for row in rows if row["gold_label"] != "-"]
