"""Coreference from CoNLL-2012 columns or Hub rows; each part of a document is one example."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from elmo_bench.data.conll2012 import Span, clusters, read_documents
from elmo_bench.data.example import Example, Skipped
from elmo_bench.data.files import DataError

Clusters = tuple[tuple[Span, ...], ...]


@dataclass(frozen=True)
class CorefTarget:
    """The clusters of a document; token offsets count over all its sentences."""

    document: str
    part: int
    genre: str
    speakers: tuple[str, ...]  # one per token
    clusters: Clusters


def read(path: Path, skipped: Skipped | None) -> Iterator[Example]:
    """Read one example per document; its segments are the sentences.

    With `skipped`, a mention in two clusters is counted and stays only in the first; without, in
    both.
    """
    found = False
    for document in read_documents(path):
        found = True
        mentions = tuple(map(tuple, clusters(path, document)))
        target = CorefTarget(
            document.name,
            document.part,
            genre(document.name),
            tuple(speaker for sentence in document.sentences for speaker in sentence.speakers),
            mentions if skipped is None else once(mentions, skipped),
        )
        yield Example(document.key, tuple(s.words for s in document.sentences), target)
    if not found:
        raise DataError(path, None, "the file contains no documents")


def genre(name: str) -> str:
    """The genre of a document: bc, nw, ... in names such as bc/cctv/00/cctv_0001."""
    first, slash, _ = name.partition("/")
    return first if slash else "none"


def once(found: Iterable[Iterable[Span]], skipped: Skipped) -> Clusters:
    """Keep a mention only in the first of the clusters that contain it."""
    seen: set[Span] = set()
    kept = []
    for cluster in found:
        mentions = []
        for mention in cluster:
            if mention in seen:
                skipped["mentions of a second cluster"] += 1
            else:
                seen.add(mention)
                mentions.append(mention)
        if mentions:
            kept.append(tuple(mentions))
    return tuple(kept)


def from_hub(rows: Iterable[Mapping[str, Any]], skipped: Skipped) -> Iterator[Example]:
    """Convert documents whose `sentences` have `words`, `speaker` and `coref_spans`.

    These spans, (id, first, last), count tokens from the start of their sentence.
    """
    for row in rows:
        name = row["document_id"]
        for part, group in groupby(row["sentences"], key=lambda sentence: int(sentence["part_id"])):
            yield _document(name, part, list(group), skipped)


def _document(
    name: str, part: int, sentences: list[Mapping[str, Any]], skipped: Skipped
) -> Example:
    found: dict[int, list[Span]] = {}
    speakers: list[str] = []
    before = 0
    for sentence in sentences:
        length = len(sentence["words"])
        for cluster, first, last in sentence["coref_spans"]:
            if not 0 <= first <= last < length:
                problem = f"{name}: mention {first}-{last} in a sentence of {length} words"
                raise DataError("Hub dataset", None, problem)
            found.setdefault(cluster, []).append((before + first, before + last))
        speakers += [sentence["speaker"] or "-"] * length
        before += length
    ordered = sorted(sorted(mentions) for mentions in found.values())
    target = CorefTarget(name, part, genre(name), tuple(speakers), once(ordered, skipped))
    return Example(f"{name}_{part}", tuple(tuple(s["words"]) for s in sentences), target)
