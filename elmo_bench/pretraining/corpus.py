"""Sources of pretraining text: files, a Hub dataset, or a task, read as streams of sentences.

A corpus is anything with the two methods of `Corpus`.
"""

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain, repeat
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from elmo_bench.config.pretraining_settings import (
    CorpusSettings,
    CorpusSource,
    HubCorpusSettings,
    MiniCorpusSettings,
    TaskCorpusSettings,
    TextCorpusSettings,
)
from elmo_bench.data.files import numbered_lines
from elmo_bench.data.hub import check_available, open_dataset
from elmo_bench.errors import UserError
from elmo_bench.mini.files import ensure_mini
from elmo_bench.mini.settings import MiniSettings

Sentence = Sequence[str]
Item = TypeVar("Item")

# Without held-out files, every n-th sentence is held out of training.
HELD_OUT_EVERY = 100
OWN_TEXT = "corpus=text corpus.path=FILES reads your own text"


@runtime_checkable
class Corpus(Protocol):
    """Sentences to train on, and sentences to measure perplexity on."""

    def train(self) -> Iterable[Sentence]:
        """Stream the training sentences."""

    def heldout(self) -> Mapping[str, Iterable[Sentence]]:
        """Stream the held-out sentences, by the name of their part."""


def build_corpus(source: CorpusSource, cache: Path) -> Corpus:
    """The corpus that settings describe; generated text is kept in `cache`."""
    match source.corpus:
        case MiniCorpusSettings(seed=seed, corpus_tokens=tokens, heldout_tokens=heldout):
            mini = MiniSettings(seed=seed, corpus_tokens=tokens, heldout_tokens=heldout)
            folder = ensure_mini(cache, mini) / "corpus"
            return TextCorpus(str(folder / "train.txt"), str(folder / "heldout.txt"))
        case TextCorpusSettings(path=path, heldout=heldout_files, weights=weights):
            return TextCorpus(path, heldout_files, weights)
        case HubCorpusSettings() as hub:
            return HubCorpus(hub)
        case TaskCorpusSettings(part=part):
            from elmo_bench.pretraining.task_corpus import TaskCorpus  # imports this module

            assert source.task is not None and source.data is not None
            return TaskCorpus(source.task, source.data, cache, part)


def check_corpus(corpus: CorpusSettings) -> None:
    """Raise if the text cannot be had; the text of a task is looked for when it is read."""
    if isinstance(corpus, TextCorpusSettings):
        text_files(corpus.path, corpus.heldout)
    elif isinstance(corpus, HubCorpusSettings):
        check_available(corpus.dataset, OWN_TEXT)


class TextCorpus:
    """Text files, plain or .gz: one sentence per line, words separated by white space.

    Args:
        path: A file, a glob pattern, or a list of them.
        heldout: Files to measure perplexity on, each separately. They are left out of training
            even if `path` matches them. Without any, one training sentence in 100 is held out.
        weights: How often the training sentences of a file occur in an epoch, by file name or
            pattern: 2 is twice each, 0.5 every other one. Files that no pattern matches have 1.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        heldout: str | Sequence[str] | None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self._train, self._heldout = text_files(path, heldout)
        self._weights = file_weights(self._train, weights or {})

    def train(self) -> Iterator[Sentence]:
        """Stream the files one after the other."""
        files = zip(self._train, self._weights, strict=True)
        weighted = chain.from_iterable(zip(_read_lines([f]), repeat(weight)) for f, weight in files)
        return _repeated(weighted if self._heldout else _every(weighted, HELD_OUT_EVERY, False))

    def heldout(self) -> Mapping[str, Iterator[Sentence]]:
        """Stream each held-out file, or the sentences left out of training."""
        if not self._heldout:
            return {"heldout": _every(_read_lines(self._train), HELD_OUT_EVERY, True)}
        return {name_of(file): _read_lines([file]) for file in self._heldout}


class HubCorpus:
    """A dataset of the Hugging Face Hub, or a local one that `datasets` reads, streamed."""

    def __init__(self, settings: HubCorpusSettings) -> None:
        self._settings = settings

    def train(self) -> Iterator[Sentence]:
        """Stream the training split."""
        sentences = self._read(self._settings.split)
        heldout = self._settings.heldout_split
        return sentences if heldout else _every(sentences, HELD_OUT_EVERY, False)

    def heldout(self) -> Mapping[str, Iterator[Sentence]]:
        """Stream the held-out split, or the lines left out of training."""
        split = self._settings.heldout_split
        if split:
            return {split: self._read(split)}
        return {"heldout": _every(self._read(self._settings.split), HELD_OUT_EVERY, True)}

    def _read(self, split: str) -> Iterator[Sentence]:
        hub = self._settings
        rows = open_dataset(
            hub.dataset, hub.config, hub.revision, split, streaming=True, way_out=OWN_TEXT
        )
        for row in rows:
            if hub.column not in row:
                raise UserError(
                    f"Dataset {hub.dataset} has no column {hub.column!r}; "
                    f"its columns are {sorted(row)}. Set corpus.column."
                )
            yield from filter(None, (line.split() for line in str(row[hub.column]).splitlines()))


def text_files(
    path: str | Sequence[str], heldout: str | Sequence[str] | None
) -> tuple[list[Path], list[Path]]:
    """The files to train on and the held-out ones, which are left out of the former."""
    held_out = expand_patterns(heldout) if heldout else []
    train = [file for file in expand_patterns(path) if file not in held_out]
    if not train:
        raise UserError(f"Every file of corpus.path={path} is held out; none is left to train on.")
    return train, held_out


def expand_patterns(patterns: str | Sequence[str]) -> list[Path]:
    """Expand paths and glob patterns to sorted files; a pattern without a file is an error."""
    files: set[Path] = set()
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        found = glob.glob(str(Path(pattern).expanduser()), recursive=True)
        matches = {Path(path).resolve() for path in found if Path(path).is_file()}
        if not matches:
            raise FileNotFoundError(
                f"No file matches {pattern!r}. Set corpus.path or corpus.heldout."
            )
        files |= matches
    return sorted(files)


def file_weights(files: Sequence[Path], weights: Mapping[str, float]) -> list[float]:
    """The weight of each file; a pattern without a file and a file with two are errors."""
    result = []
    unused = set(weights)
    for file in files:
        matching = [pattern for pattern in weights if fnmatchcase(file.name, pattern)]
        unused -= set(matching)
        if len(matching) > 1:
            raise UserError(
                f"corpus.weights: {' and '.join(matching)} both match {file.name}; "
                "a file has one weight."
            )
        result.append(weights[matching[0]] if matching else 1.0)
    if unused:
        raise UserError(
            f"corpus.weights: no training file is named {' or '.join(sorted(unused))}. "
            f"The files are {', '.join(file.name for file in files)}."
        )
    return result


def name_of(file: Path) -> str:
    """The file's name without .txt and .gz."""
    return file.name.removesuffix(".gz").removesuffix(".txt")


def _read_lines(files: Iterable[Path]) -> Iterator[Sentence]:
    for file in files:
        yield from filter(None, (line.split() for _, line in numbered_lines(file)))


def _repeated(weighted: Iterable[tuple[Sentence, float]]) -> Iterator[Sentence]:
    """Yield each sentence as often as its weight says on average, spread evenly over the text."""
    owed = 0.0
    for sentence, weight in weighted:
        owed += weight
        copies = int(owed)
        yield from repeat(sentence, copies)
        owed -= copies


def _every(items: Iterable[Item], period: int, held_out: bool) -> Iterator[Item]:
    """Yield every `period`-th item if `held_out`, else all the others."""
    for number, item in enumerate(items, start=1):
        if (number % period == 0) is held_out:
            yield item
