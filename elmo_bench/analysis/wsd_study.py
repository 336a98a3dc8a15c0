"""The word sense analysis, from files to results with every layer and the baselines."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from elmo_bench.analysis import wsd
from elmo_bench.analysis.senses import (
    SenseExample,
    keys_of,
    read_first_senses,
    read_senses,
    sense_index,
)
from elmo_bench.analysis.static import read_known, token_vectors
from elmo_bench.analysis.wsd import Answers, Method
from elmo_bench.features.encoder import Encoder
from elmo_bench.records.analysis import Analysis
from elmo_bench.records.digest import file_identity
from elmo_bench.records.timer import StageTimer

Scores = dict[str, float]

# The development set of the unified framework, which the paper's Table 5 leaves out.
DEVELOPMENT = "semeval2007"


class SenseData(NamedTuple):
    """Words with senses, and the back-off for words that training lacks."""

    train: list[SenseExample]
    test: list[SenseExample]  # all test sets concatenated
    sets: dict[str, int]  # the size of each test set
    back_off: Mapping[str, str]  # the most frequent sense by lemma

    @property
    def all(self) -> list[SenseExample]:
        """All examples, training first."""
        return [*self.train, *self.test]

    def answers(self, rows: np.ndarray, method: Method) -> Answers:
        """Return the senses of the test examples; `rows` are the vectors of all examples."""
        size = len(self.train)
        return wsd.disambiguate(
            self.train, rows[:size], self.test, rows[size:], method, self.back_off
        )

    def scores(self, answers: Answers) -> Scores:
        """Return F1 over all test sets, and for each of them if there are several.

        Among several, `f1` leaves out the development set, as the paper does; `f1 all` has it.
        """
        sets: dict[str, slice] = {}
        start = 0
        for name, size in self.sets.items():
            sets[name] = slice(start, start + size)
            start += size
        if len(sets) == 1:
            return {"f1": self._score(sets.values(), answers)}
        scored = [part for name, part in sets.items() if name != DEVELOPMENT]
        scores = {"f1": self._score(scored, answers)}
        if DEVELOPMENT in sets:
            scores["f1 all"] = self._score(sets.values(), answers)
        return scores | {f"f1 {name}": self._score([part], answers) for name, part in sets.items()}

    def _score(self, parts: Iterable[slice], answers: Answers) -> float:
        parts = list(parts)
        test = [example for part in parts for example in self.test[part]]
        return wsd.score_senses(test, [answer for part in parts for answer in answers[part]])


def study_senses(
    bilm: Encoder,
    train: Path,
    tests: Sequence[Path],
    data: str,
    methods: Sequence[Method] = (Method(),),
    vectors: Path | None = None,
    wordnet: Path | None = None,
    cache: Path = Path("cache"),
) -> list[Analysis]:
    """Disambiguate words with every layer, and return one result per method.

    The layers are computed once for all methods.

    Args:
        bilm: The biLM that computes the layers.
        train: Words with senses, in a format that `read_senses` reads.
        tests: Files to score, together and separately.
        data: Their name in tables.
        methods: Ways to choose a sense.
        vectors: Static vectors for the baseline that averages a word's context.
        wordnet: WordNet's index.sense or its folder; its first senses are the back-off and the
            baseline, instead of the most frequent ones in training.
        cache: The folder for temporary files of vectors.
    """
    timer = StageTimer()
    occurrences = _read(train, tests, wordnet)
    with timer("baselines"):
        baselines = _baselines(bilm, occurrences, vectors, wordnet)
    cache.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=cache, prefix="wsd-") as folder:
        with timer("layers"):
            windows = sorted({method.window for method in methods})
            rows = wsd.gather(bilm, occurrences.all, windows, Path(folder) / "vectors.npy")
        with timer("senses"):
            found = {
                method: [
                    occurrences.scores(occurrences.answers(layer, method))
                    for layer in rows[method.window]
                ]
                for method in methods
            }
    files = _identities(train, tests, vectors, wordnet)
    words = {example.lemma for example in occurrences.test}
    sizes = {"train": len(occurrences.train), "test": len(occurrences.test), "words": len(words)}
    return [
        Analysis(
            analysis="wsd",
            bilm=bilm.name,
            fingerprint=bilm.fingerprint(),
            data=data,
            settings={**method._asdict(), "files": files},
            metric="f1",
            layers=layers,
            baselines=baselines,
            sizes=sizes,
            seconds=timer.seconds,
        )
        for method, layers in found.items()
    ]


def _read(train: Path, tests: Sequence[Path], wordnet: Path | None) -> SenseData:
    known = read_senses(train)
    asked = {path: read_senses(path) for path in tests}
    back_off = wsd.most_frequent(known)
    if wordnet is not None:
        back_off |= read_first_senses(wordnet)
    return SenseData(
        train=known,
        test=[example for examples in asked.values() for example in examples],
        sets={path.name.split(".")[0]: len(examples) for path, examples in asked.items()},
        back_off=back_off,
    )


def _baselines(
    bilm: Encoder, data: SenseData, vectors: Path | None, wordnet: Path | None
) -> dict[str, Scores]:
    """Score the most frequent sense, and the mean static vector of the context.

    Static vectors are the biLM's token layer and, if given, those of a file.
    """
    name = "WordNet first sense" if wordnet else "most frequent sense"
    found = {name: data.scores([data.back_off.get(example.lemma) for example in data.test])}
    words = {word for example in data.all for word in example.tokens}
    sources = {"token layer": token_vectors(bilm, sorted(words))}
    if vectors is not None:
        sources[vectors.name] = read_known(vectors, words)
    for source, static in sources.items():
        averages = wsd.static_context(data.all, static)
        found[f"context average, {source}"] = data.scores(data.answers(averages, Method()))
    return found


def _identities(
    train: Path, tests: Sequence[Path], vectors: Path | None, wordnet: Path | None
) -> dict[str, Any]:
    """Return the identity of every file that the scores depend on."""
    index = sense_index(wordnet) if wordnet else None
    single = {"train": train, "vectors": vectors, "wordnet": index}
    files: dict[str, Any] = {key: file_identity(path) for key, path in single.items() if path}
    keys = [found for path in (train, *tests) if (found := keys_of(path))]
    if keys:
        files["keys"] = [file_identity(path) for path in keys]
    return {**files, "tests": [file_identity(path) for path in tests]}
