"""Semantic roles of gold predicates, from CoNLL-2012 columns or Hub rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmo_bench.data.conll2012 import Argument, Proposition, propositions, read_documents
from elmo_bench.data.example import Example, Skipped
from elmo_bench.data.files import DataError


@dataclass(frozen=True)
class SrlTarget:
    """One predicate of a sentence and its arguments; spans never overlap."""

    predicate: int
    arguments: tuple[Argument, ...]  # (first token, last token, label), including V


def read(path: Path, all_predicates: bool, skipped: Skipped) -> Iterator[Example]:
    """Read one example per verbal predicate; with `all_predicates`, per predicate of any kind."""
    found = False
    for document in read_documents(path):
        for number, sentence in enumerate(document.sentences):
            found = True
            yield from _examples(
                f"{document.key}:{number}",
                sentence.words,
                sentence.pos,
                propositions(path, sentence),
                all_predicates,
                skipped,
            )
    if not found:
        raise DataError(path, None, "the file contains no sentences")


def read_sentences(path: Path) -> Iterator[Example]:
    """Read whole sentences with a tuple of all their predicates, as the scorer expects them."""
    for document in read_documents(path):
        for number, sentence in enumerate(document.sentences):
            targets = tuple(
                SrlTarget(found.predicate, without_overlap(found.arguments))
                for found in propositions(path, sentence)
            )
            yield Example(f"{document.key}:{number}", (sentence.words,), targets)


def _examples(
    name: str,
    words: tuple[str, ...],
    pos: Sequence[str],
    found: Iterable[Proposition],
    all_predicates: bool,
    skipped: Skipped,
) -> Iterator[Example]:
    for proposition in found:
        if not all_predicates and not pos[proposition.predicate].startswith("V"):
            skipped["predicates that are no verbs"] += 1
            continue
        arguments = without_overlap(proposition.arguments)
        dropped = len(proposition.arguments) - len(arguments)
        if dropped:
            skipped["arguments around another argument"] += dropped
        target = SrlTarget(proposition.predicate, arguments)
        yield Example(f"{name}:{proposition.predicate}", (words,), target)


def without_overlap(arguments: Iterable[Argument]) -> tuple[Argument, ...]:
    """Drop arguments that contain another one; srl-eval also keeps the inner of two."""
    kept: list[Argument] = []
    for start, end, label in sorted(arguments, key=lambda argument: argument[1] - argument[0]):
        if all(end < other[0] or other[1] < start for other in kept):
            kept.append((start, end, label))
    return tuple(sorted(kept))


def from_hub(
    rows: Iterable[Mapping[str, Any]], all_predicates: bool, skipped: Skipped
) -> Iterator[Example]:
    """Convert documents whose `sentences` have `words`, `pos_tags` and `srl_frames` in BIO."""
    for row in rows:
        for number, sentence in enumerate(row["sentences"]):
            words, pos = tuple(sentence["words"]), list(map(str, sentence["pos_tags"]))
            name = f"{row['document_id']}_{sentence['part_id']}:{number}"
            frames = [frame["frames"] for frame in sentence["srl_frames"]]
            if any(len(frame) != len(words) for frame in (pos, *frames)):
                raise DataError("Hub dataset", None, f"{name}: columns of unequal length")
            found = [_proposition(name, frame) for frame in frames]
            yield from _examples(name, words, pos, found, all_predicates, skipped)


def _proposition(name: str, tags: Sequence[str]) -> Proposition:
    arguments: list[Argument] = []
    for index, tag in enumerate(tags):
        prefix, _, label = tag.partition("-")
        if prefix == "I" and arguments and arguments[-1][1:] == (index - 1, label):
            arguments[-1] = (arguments[-1][0], index, label)
        elif prefix in ("B", "I") and label:
            arguments.append((index, index, label))
        elif tag != "O":
            raise DataError("Hub dataset", None, f"{name}: frame tag {tag!r}")
    own = [start for start, _, label in arguments if label == "V"]
    if not own:
        raise DataError("Hub dataset", None, f"{name}: a frame without a V")
    return Proposition(own[0], tuple(arguments))
