"""Five-level sentiment from Stanford Sentiment Treebank trees, one per line, or Hub rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elmo_bench.data.example import Example, Skipped, Split
from elmo_bench.data.files import DataError, numbered_lines

MAX_DEPTH = 1000  # of a tree; real ones have 30
_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})  # as the trees write them
_UNKNOWN = 2  # label of single words, since predictions are only for whole sentences

LABELS = ("very negative", "negative", "neutral", "positive", "very positive")


class Phrase(NamedTuple):
    """A node of a tree: a label and the tokens under it, from `start` to `end` (exclusive)."""

    label: int
    start: int
    end: int


def read(
    path: Path, split: Split, min_phrase_length: int | None, skipped: Skipped
) -> Iterator[Example]:
    """Read trees: for training every phrase with enough tokens, otherwise whole sentences.

    A repeated phrase with the same label is skipped: most short phrases occur many times.
    Without a `min_phrase_length`, training also uses whole sentences only.
    """
    name = path.name.removesuffix(".gz")
    seen: set[tuple[tuple[str, ...], int]] = set()
    found = False
    for number, tokens, phrases in read_trees(path):
        found = True
        if split != "train" or min_phrase_length is None:
            yield Example(f"{name}:{number}", (tokens,), phrases[0].label)
            continue
        for label, start, end in phrases:
            phrase = tokens[start:end]
            if len(phrase) < min_phrase_length:
                skipped[f"phrases of fewer than {min_phrase_length} tokens"] += 1
            elif (phrase, label) in seen:
                skipped["phrases seen before with the same label"] += 1
            else:
                seen.add((phrase, label))
                yield Example(f"{name}:{number}:{start}-{end}", (phrase,), label)
    if not found:
        raise DataError(path, None, "the file contains no trees")


def read_trees(path: Path) -> Iterator[tuple[int, tuple[str, ...], list[Phrase]]]:
    """Yield (line number, tokens, phrases) of every tree; the whole sentence is phrase 0."""
    for number, line in numbered_lines(path):
        if line.strip():
            yield number, *_parse(path, number, line)


def _parse(path: Path, number: int, line: str) -> tuple[tuple[str, ...], list[Phrase]]:
    tokens: list[str] = []
    phrases: list[Phrase] = []
    opened: list[int] = []  # phrases that are not closed yet
    before = ""  # kind of the previous piece
    pieces = line.replace("(", " ( ").replace(")", " ) ").replace("\t", " ").split(" ")
    for piece in filter(None, pieces):
        if before == "(":
            if piece not in ("0", "1", "2", "3", "4"):
                raise DataError(path, number, f"label {piece!r}, expected 0 to 4")
            opened.append(len(phrases))
            if len(opened) > MAX_DEPTH:  # its phrases would take the square of its size
                raise DataError(path, number, f"brackets are nested more than {MAX_DEPTH} deep")
            phrases.append(Phrase(int(piece), len(tokens), -1))
            before = "label"
        elif piece == "(" and before in ("", "label", ")") and (opened or not phrases):
            before = piece
        elif piece == ")" and before in ("word", ")") and opened:
            node = opened.pop()
            phrases[node] = phrases[node]._replace(end=len(tokens))
            before = piece
        elif piece not in ("(", ")") and before == "label":
            tokens.append(piece)
            before = "word"
        else:
            raise DataError(path, number, f"{piece!r} after {before or 'nothing'!r} in a tree")
    if opened or not phrases or before == "(":
        raise DataError(path, number, f"the tree ends with {len(opened)} open brackets")
    return tuple(tokens), phrases


def write(examples: Sequence[Example], predictions: Sequence[int], path: Path) -> None:
    """Write a tree per sentence, with the prediction at the root and all words below it."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for example, label in zip(examples, predictions, strict=True):
            words = [word.translate(_BRACKETS) for word in example.segments[0]]
            leaves = " ".join(f"({_UNKNOWN} {word})" for word in words)
            file.write(f"({label} {leaves})\n")


def from_hub(rows: Iterable[Mapping[str, Any]]) -> Iterator[Example]:
    """Convert rows with `text`, already tokenized, and `label`: whole sentences in every split."""
    for number, row in enumerate(rows):
        tokens, label = tuple(row["text"].split()), row["label"]
        label = LABELS.index(label) if label in LABELS else label
        if not tokens or label not in range(5):
            raise DataError(
                f"Hub dataset, row {number}", None, f"label {label!r} of {row['text'][:60]!r}"
            )
        yield Example(str(number), (tokens,), label)
