"""Natural language inference from SNLI's jsonl or Hub rows."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from elmo_bench.data.example import Example, Skipped
from elmo_bench.data.files import DataError, numbered_lines, parse_json
from elmo_bench.data.tokenizer import tokenize

LABELS = ("entailment", "neutral", "contradiction")  # in the order of stanfordnlp/snli
NO_LABEL = "-"  # the annotators did not agree
_UNLABELED = "pairs without a gold label"
_EMPTY = "pairs with an empty sentence"
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_NAMES = {bracket: name for name, bracket in _BRACKETS.items()}


def read(path: Path, skipped: Skipped) -> Iterator[Example]:
    """Read the pairs that have a gold label."""
    found = False
    for example in read_pairs(path):
        found = True
        if usable(example):
            yield example
        else:
            skipped[_UNLABELED if example.target == NO_LABEL else _EMPTY] += 1
    if not found:
        raise DataError(path, None, "the file contains no pairs")


def usable(example: Example) -> bool:
    """Whether a pair has a gold label and words in both of its sentences."""
    return example.target != NO_LABEL and all(example.segments)


def read_pairs(path: Path) -> Iterator[Example]:
    """Read all pairs, including those without a gold label."""
    name = path.name.removesuffix(".gz")
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        row = parse_json(path, number, line)
        if not isinstance(row, dict):
            raise DataError(path, number, f"not a JSON object: {line[:60]!r}")
        label = _text(path, number, row, "gold_label")
        if label not in (*LABELS, NO_LABEL):
            raise DataError(path, number, f"label {label!r}, expected one of {', '.join(LABELS)}")
        segments = (
            _tokens(path, number, row, "sentence1"),
            _tokens(path, number, row, "sentence2"),
        )
        yield Example(str(row.get("pairID") or f"{name}:{number}"), segments, label)


def _text(path: Path, number: int, row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise DataError(path, number, f"no text under {key!r}")
    return value


def _tokens(path: Path, number: int, row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the tokens of the binary parse, the corpus's own, or else tokenize the text."""
    parse = row.get(f"{key}_binary_parse")
    if not parse:
        return tokenize(_text(path, number, row, key))
    words = _text(path, number, row, f"{key}_binary_parse").split()
    return tuple(_BRACKETS.get(word, word) for word in words if word not in ("(", ")"))


def write(examples: Sequence[Example], predictions: Sequence[str], path: Path) -> None:
    """Write pairs with the prediction as their label and parses that contain the tokens."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for example, label in zip(examples, predictions, strict=True):
            row = {"gold_label": label, "pairID": example.id}
            for key, tokens in zip(("sentence1", "sentence2"), example.segments, strict=True):
                words = (_NAMES.get(token, token) for token in tokens)
                row |= {key: " ".join(tokens), f"{key}_binary_parse": f"( {' '.join(words)} )"}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def from_hub(rows: Iterable[Mapping[str, Any]], skipped: Skipped) -> Iterator[Example]:
    """Convert rows with `premise`, `hypothesis` and `label`, a name or a number (-1: no label)."""
    for number, row in enumerate(rows):
        label = row["label"]
        if label in (-1, NO_LABEL):
            skipped[_UNLABELED] += 1
            continue
        if isinstance(label, int) and 0 <= label < len(LABELS):
            label = LABELS[label]
        if label not in LABELS:
            raise DataError(
                f"Hub dataset, row {number}", None, f"label {label!r}, expected {', '.join(LABELS)}"
            )
        segments = (tokenize(row["premise"]), tokenize(row["hypothesis"]))
        if all(segments):
            yield Example(str(number), segments, label)
        else:
            skipped[_EMPTY] += 1
