"""Coreference from CoNLL-2012 columns or Hub rows; each part of a document is one example."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from elmo_bench.data.conll2012 import Span, clusters, read_documents
from elmo_bench.data.example import Example, Skipped, Split
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


Resolve = Callable[[Clusters], Clusters]  # what to do with a mention that is in two clusters


def read(path: Path, resolve: Resolve) -> Iterator[Example]:
    """Read one example per document; its segments are the sentences."""
    found = False
    for document in read_documents(path):
        found = True
        target = CorefTarget(
            document.name,
            document.part,
            genre(document.name),
            tuple(speaker for sentence in document.sentences for speaker in sentence.speakers),
            resolve(tuple(map(tuple, clusters(path, document)))),
        )
        yield Example(document.key, tuple(_words(s.words) for s in document.sentences), target)
    if not found:
        raise DataError(path, None, "the file contains no documents")


def genre(name: str) -> str:
    """The genre of a document: bc, nw, ... in names such as bc/cctv/00/cctv_0001."""
    first, slash, _ = name.partition("/")
    return first if slash else "none"


def _words(written: Iterable[str]) -> tuple[str, ...]:
    """OntoNotes escapes two punctuation marks; vectors and biLMs know them as they are."""
    return tuple(word[1:] if word in ("/.", "/?") else word for word in written)


def resolution(split: Split, skipped: Skipped) -> Resolve:
    """Clusters that share a mention are merged to train on; scorer.pl keeps the first mention."""
    return partial(merged if split == "train" else once, skipped=skipped)


def merged(found: Iterable[Iterable[Span]], skipped: Skipped) -> Clusters:
    """Merge clusters that share a mention, since both refer to what it refers to."""
    kept: list[set[Span]] = []
    for cluster in map(set, found):
        shared = [other for other in kept if other & cluster]
        skipped["clusters merged with another"] += len(shared)
        kept = [other for other in kept if not other & cluster]
        kept.append(cluster.union(*shared))
    return tuple(sorted(tuple(sorted(cluster)) for cluster in kept))


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


def from_hub(rows: Iterable[Mapping[str, Any]], resolve: Resolve) -> Iterator[Example]:
    """Convert documents whose `sentences` have `words`, `speaker` and `coref_spans`.

    These spans, (id, first, last), count tokens from the start of their sentence.
    """
    for row in rows:
        name = row["document_id"]
        for part, group in groupby(row["sentences"], key=lambda sentence: int(sentence["part_id"])):
            yield _document(name, part, list(group), resolve)


def _document(
    name: str, part: int, sentences: list[Mapping[str, Any]], resolve: Resolve
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
    ordered = tuple(sorted(tuple(sorted(mentions)) for mentions in found.values()))
    target = CorefTarget(name, part, genre(name), tuple(speakers), resolve(ordered))
    return Example(f"{name}_{part}", tuple(_words(s["words"]) for s in sentences), target)
