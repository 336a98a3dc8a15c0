"""A corpus on disk for pretraining: memory-mapped sentences by number, and word counts.

It is written in one pass with bounded memory, so only the disk limits the size of a corpus.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from elmo_bench.bilm.vocabulary import Vocabulary, sort_by_count
from elmo_bench.errors import UserError
from elmo_bench.pretraining.corpus import Corpus, Sentence
from elmo_bench.records.atomic import replace_folder
from elmo_bench.records.checksums import find_damage, write_checksums
from elmo_bench.records.digest import digest
from elmo_bench.records.lock import file_lock

# Above this many distinct words, about 1 GB, the rarest are dropped while counting.
MAX_COUNTED = 8_000_000

log = logging.getLogger(__name__)


class SentenceStore:
    """Sentences by number, read one at a time from memory-mapped files.

    `text.bin` holds the words in UTF-8, `starts.bin` where each sentence begins in it (and where
    the last one ends), `lengths.bin` its number of words.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.starts = np.memmap(folder / "starts.bin", dtype=np.int64, mode="r")
        self.lengths = np.memmap(folder / "lengths.bin", dtype=np.int32, mode="r")
        self._text = np.memmap(folder / "text.bin", dtype=np.uint8, mode="r")
        self.num_words = int(self.lengths.sum(dtype=np.int64))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, number: int) -> list[str]:
        start, end = self.starts[number], self.starts[number + 1]
        return self._text[start:end].tobytes().decode().split(" ")

    def __iter__(self) -> Iterator[list[str]]:
        return (self[number] for number in range(len(self)))


def write_store(folder: Path, sentences: Iterable[Sentence], count: bool) -> Counter[str]:
    """Write sentences for `SentenceStore`; return word counts, empty unless `count`."""
    counts: Counter[str] = Counter()
    folder.mkdir(parents=True)
    end, number = 0, 0
    with (
        open(folder / "text.bin", "wb") as text,
        open(folder / "starts.bin", "wb") as starts,
        open(folder / "lengths.bin", "wb") as lengths,
        _progress() as progress,
    ):
        task = progress.add_task(f"Reading {folder.name}", total=None, sentences=0)
        starts.write(np.int64(0).tobytes())
        for number, sentence in enumerate(sentences, start=1):
            # A word that contains a space becomes several words.
            line = " ".join(sentence)
            end += text.write(line.encode())
            starts.write(end.to_bytes(8, "little"))
            words = line.split(" ")
            lengths.write(len(words).to_bytes(4, "little"))
            if count:
                counts.update(words)
            if number % 10_000 == 0:
                progress.update(task, sentences=number)
                _forget_rarest(counts)
    if not number:
        raise UserError(f"The {folder.name} text of the corpus has no words.")
    return counts


@dataclass(frozen=True)
class PreparedCorpus:
    """A corpus on disk: training sentences, held-out sentences by part, and word counts."""

    folder: Path

    @property
    def train(self) -> SentenceStore:
        """The training sentences."""
        return SentenceStore(self.folder / "train")

    @property
    def heldout(self) -> dict[str, SentenceStore]:
        """The held-out sentences of each part."""
        return {part.name: SentenceStore(part) for part in sorted(self.folder.glob("heldout/*"))}

    def vocabulary(self, max_words: int, min_count: int) -> Vocabulary:
        """The most frequent words of the training text."""
        with open(self.folder / "counts.txt", encoding="utf-8", newline="\n") as lines:
            pairs = (line.rstrip("\n").rsplit("\t", 1) for line in lines)
            counts = ((word, int(count)) for word, count in pairs)
            return Vocabulary.from_counts(counts, max_words, min_count)


def prepare_corpus(corpus: Corpus, identity: Mapping[str, Any], cache: Path) -> PreparedCorpus:
    """Write the corpus to the cache, unless it is there and undamaged.

    Args:
        corpus: The text.
        identity: Of the text (`text_identity`); a changed text has another one.
        cache: The folder of all prepared corpora.
    """
    folder = cache / digest(identity)
    folder.parent.mkdir(parents=True, exist_ok=True)
    if find_damage(folder):  # without the lock: the processes of one training check at once
        with file_lock(f"{folder}.lock", "reads the same corpus"):
            _write(corpus, folder)
    return PreparedCorpus(folder)


def _write(corpus: Corpus, folder: Path) -> None:
    """Write a prepared corpus, unless another process has done so meanwhile."""
    damage = find_damage(folder)
    if damage is None:
        return
    if folder.exists():
        log.warning("preparing the corpus again: %s", damage)
    with replace_folder(folder) as new:
        counts = write_store(new / "train", corpus.train(), count=True)
        for name, sentences in corpus.heldout().items():
            write_store(new / "heldout" / name, sentences, count=False)
        with open(new / "counts.txt", "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{word}\t{count}\n" for word, count in sort_by_count(counts))
        write_checksums(new)


def _forget_rarest(counts: Counter[str]) -> None:
    threshold = 1
    while len(counts) > MAX_COUNTED:
        for word in [word for word, count in counts.items() if count <= threshold]:
            del counts[word]
        threshold *= 2


def _progress() -> Progress:
    console = Console()
    return Progress(
        TextColumn("{task.description}"),
        TextColumn("{task.fields[sentences]:,} sentences"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,  # elsewhere it would leave empty lines
    )
