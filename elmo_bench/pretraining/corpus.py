"""Where pretraining text comes from: files or a Hub dataset, read as streams of sentences.

A corpus is anything with the three methods of `Corpus`; `conf/corpus/*.yaml` name the classes.
"""

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from elmo_bench.data.files import numbered_lines
from elmo_bench.mini.files import ensure_mini
from elmo_bench.mini.settings import MiniSettings
from elmo_bench.records.digest import digest

Sentence = Sequence[str]

# Without held-out files, one sentence in so many is kept from training.
HELD_OUT_EVERY = 100


@runtime_checkable
class Corpus(Protocol):
    """Sentences to train on, sentences to measure perplexity on, and a name for their content."""

    def train(self) -> Iterable[Sentence]:
        """Stream the training sentences."""

    def heldout(self) -> Mapping[str, Iterable[Sentence]]:
        """Stream the held-out sentences, by the name of their part."""

    def fingerprint(self) -> str:
        """Name the content, so that what was prepared from it can be found again."""


class TextCorpus:
    """Text files, plain or .gz: one sentence per line, words separated by white space.

    Args:
        name: How records call this corpus.
        path: A file, a glob pattern, or a list of them.
        heldout: Files to measure perplexity on, each on its own. They are left out of training
            even if `path` matches them. Without any, one training sentence in 100 is held out.
    """

    def __init__(
        self, name: str, path: str | Sequence[str], heldout: str | Sequence[str] | None
    ) -> None:
        self.name = name
        self._heldout = expand_patterns(heldout) if heldout else []
        self._train = [file for file in expand_patterns(path) if file not in self._heldout]
        if not self._train:
            raise ValueError(
                f"Every file of corpus.path={path} is held out; none is left to train."
            )

    def train(self) -> Iterator[Sentence]:
        """Stream the files one after the other."""
        return self._read(self._train, held_out=False)

    def heldout(self) -> Mapping[str, Iterator[Sentence]]:
        """Stream each held-out file, or the sentences left out of training."""
        if not self._heldout:
            return {"heldout": self._read(self._train, held_out=True)}
        return {name_of(file): _read_lines([file]) for file in self._heldout}

    def fingerprint(self) -> str:
        """Change with any file's path, size or time of change."""
        files = [
            [str(file), file.stat().st_size, file.stat().st_mtime_ns]
            for file in (*self._train, *self._heldout)
        ]
        return digest(["text", len(self._heldout), files])

    def _read(self, files: list[Path], held_out: bool) -> Iterator[Sentence]:
        sentences = _read_lines(files)
        return sentences if self._heldout else _every(sentences, HELD_OUT_EVERY, held_out)


class MiniCorpus(TextCorpus):
    """The text of the embedded benchmark, which is generated when it is missing.

    Args:
        name: How records call this corpus.
        cache: Folder that the benchmark is written to.
        seed: Which world to generate; the tasks' data have the same.
        corpus_tokens: Size of the training text.
        heldout_tokens: Size of the held-out text.
    """

    def __init__(
        self, name: str, cache: str, seed: int, corpus_tokens: int, heldout_tokens: int
    ) -> None:
        settings = MiniSettings(
            seed=seed, corpus_tokens=corpus_tokens, heldout_tokens=heldout_tokens
        )
        folder = ensure_mini(Path(cache), settings) / "corpus"
        super().__init__(name, str(folder / "train.txt"), str(folder / "heldout.txt"))


class HubCorpus:
    """A dataset of the Hugging Face Hub, or a local one that `datasets` reads, streamed.

    Args:
        name: How records call this corpus.
        dataset: Name or folder, as `datasets.load_dataset` takes it.
        config: Name of the configuration, for datasets that have several.
        revision: Commit of the dataset; give it, so that a run can be repeated.
        split: Split to train on.
        column: Column with text, one or more lines of white-space separated words.
        heldout_split: Split to measure perplexity on. Without it, one line in 100 is held out.
    """

    def __init__(
        self,
        name: str,
        dataset: str,
        config: str | None,
        revision: str | None,
        split: str,
        column: str,
        heldout_split: str | None,
    ) -> None:
        self.name = name
        self._source = {"path": dataset, "name": config, "revision": revision}
        self._split, self._column, self._heldout_split = split, column, heldout_split

    def train(self) -> Iterator[Sentence]:
        """Stream the training split."""
        sentences = self._read(self._split)
        return sentences if self._heldout_split else _every(sentences, HELD_OUT_EVERY, False)

    def heldout(self) -> Mapping[str, Iterator[Sentence]]:
        """Stream the held-out split, or the lines left out of training."""
        if self._heldout_split:
            return {self._heldout_split: self._read(self._heldout_split)}
        return {"heldout": _every(self._read(self._split), HELD_OUT_EVERY, True)}

    def fingerprint(self) -> str:
        """Change with the dataset's name, revision, splits or column."""
        return digest(["hub", self._source, self._split, self._column, self._heldout_split])

    def _read(self, split: str) -> Iterator[Sentence]:
        from datasets import load_dataset

        rows = load_dataset(**self._source, split=split, streaming=True)
        for row in rows:
            if self._column not in row:
                raise ValueError(
                    f"Dataset {self._source['path']} has no column {self._column!r} but "
                    f"{sorted(row)}. Set corpus.column."
                )
            yield from filter(None, (line.split() for line in str(row[self._column]).splitlines()))


def expand_patterns(patterns: str | Sequence[str]) -> list[Path]:
    """Expand paths and glob patterns to sorted files; a pattern without a file is an error."""
    files: set[Path] = set()
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        found = glob.glob(str(Path(pattern).expanduser()), recursive=True)
        matches = {Path(path).resolve() for path in found if Path(path).is_file()}
        if not matches:
            raise FileNotFoundError(
                f"No file matches {pattern!r}. Set corpus.path, corpus.heldout."
            )
        files |= matches
    return sorted(files)


def name_of(file: Path) -> str:
    """The file's name without .txt and .gz."""
    return file.name.removesuffix(".gz").removesuffix(".txt")


def _read_lines(files: Iterable[Path]) -> Iterator[Sentence]:
    for file in files:
        yield from filter(None, (line.split() for _, line in numbered_lines(file)))


def _every(sentences: Iterable[Sentence], period: int, held_out: bool) -> Iterator[Sentence]:
    """Split a stream in two: each `period`-th sentence, or all the others."""
    for number, sentence in enumerate(sentences, start=1):
        if (number % period == 0) is held_out:
            yield sentence
