"""The static word vectors of a run: learned with the task, from a file, or of the biLM's text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from elmo_bench.config.compose import ConfigError, build, plain
from elmo_bench.data.example import Example, Segment, distinct_segments
from elmo_bench.data.vectors import train_vectors
from elmo_bench.nn.word_embedding import WordEmbedding, no_words, pretrained_words, random_words
from elmo_bench.records.digest import digest
from elmo_bench.runs.bilm import _folder, _training


def build_word_embedding(
    cfg: DictConfig, train: Sequence[Example], segments: Sequence[Segment]
) -> WordEmbedding:
    """Static word vectors, for the words of the training data or of all segments."""
    settings = plain(cfg.words)
    name = settings.pop("name")
    known = distinct_segments(train)
    if name == "none":
        return no_words()
    if name == "random":
        return random_words(known, **settings)
    if name == "glove":
        path = Path(settings.pop("path")).expanduser()
    else:
        keys = ("dim", "lowercase", "min_count", "window", "epochs")
        path = _corpus_vectors(cfg, {key: settings[key] for key in keys})
        settings = {key: settings[key] for key in ("lowercase", "trainable", "word_dropout")}
    words = pretrained_words(path, known, segments, **settings)
    coverage = words.coverage(segments)
    print(f"{path.name}: vectors for {coverage.tokens:.1f} % of the tokens")
    return words


def _corpus_vectors(cfg: DictConfig, settings: dict[str, Any]) -> Path:
    """Vectors of the very text that the biLM was trained on, which its folder names."""
    folder = _folder(cfg)
    try:
        corpus = build(_training(folder)["settings"]["corpus"])
    except KeyError as error:
        raise ConfigError(
            f"words=corpus: {folder} does not say what text it was trained on; train vectors on "
            "that text yourself and give them as words=glove words.path=..."
        ) from error
    name = digest([corpus.fingerprint(), settings])
    path = Path(cfg.paths.cache) / "vectors" / f"{folder.name}-{name}.txt"
    return train_vectors(path, lambda: map(list, corpus.train()), **settings)
