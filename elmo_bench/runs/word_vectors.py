"""The static word vectors of a run: learned with the task, from files, or from the biLM's text."""

import logging
from collections.abc import Sequence
from pathlib import Path

from elmo_bench.config.settings import CorpusWords, GloveWords, NoWords, RandomWords, RunSettings
from elmo_bench.data.example import Example, Segment, distinct_segments
from elmo_bench.data.vectors import train_vectors
from elmo_bench.nn.word_embedding import (
    UNKNOWN,
    WordEmbedding,
    no_words,
    pretrained_words,
    random_words,
)
from elmo_bench.pretraining.corpus import build_corpus
from elmo_bench.pretraining.identity import text_identity, training_text
from elmo_bench.records.digest import digest
from elmo_bench.runs.pretraining import bilm_source

log = logging.getLogger(__name__)


def build_word_embedding(
    settings: RunSettings, train: Sequence[Example], segments: Sequence[Segment]
) -> WordEmbedding:
    """Static word vectors, for the words of the training data or of all segments."""
    known = distinct_segments(train)
    words = settings.words
    match words:
        case NoWords():
            return no_words()
        case RandomWords():
            return random_words(
                known, words.dim, words.lowercase, words.min_count, words.word_dropout
            )
        case GloveWords():
            paths = [Path(path).expanduser() for path in words.paths]
        case CorpusWords():
            paths = [_corpus_vectors(settings, words)]
    embedding = pretrained_words(
        paths,
        known,
        segments,
        words.lowercase,
        words.trainable,
        words.normalize,
        words.word_dropout,
    )
    files = " + ".join(path.name for path in paths)
    print(f"{files}: vectors for {embedding.coverage(segments).tokens:.1f} % of the tokens")
    _check_case(embedding, segments, files)
    return embedding


def _check_case(embedding: WordEmbedding, segments: Sequence[Segment], files: str) -> None:
    """Warn if words are looked up as written in files that have only lowercase words."""
    if embedding.lowercase is not False or embedding.trainable:
        return
    capitalized = {word for segment in segments for word in segment if word != word.lower()}
    known = any(embedding.row(word) != UNKNOWN for word in capitalized)
    if not known and any(embedding.row(word.lower()) != UNKNOWN for word in capitalized):
        log.warning(
            "%s: no capitalized word has a vector, but lowercase ones have; words.lowercase=true "
            "looks words up in lowercase, words.lowercase=fallback where they have no other vector",
            files,
        )


def _corpus_vectors(settings: RunSettings, words: CorpusWords) -> Path:
    """Vectors trained on the biLM's text, which its folder records."""
    folder, cache = bilm_source(settings), Path(settings.paths.cache)
    source = training_text(folder)
    made_of = words.model_dump(include={"dim", "lowercase", "min_count", "window", "epochs"})
    name = digest([text_identity(source, cache), made_of])
    corpus = build_corpus(source, cache)
    path = cache / "vectors" / f"{folder.name}-{name}.txt"
    return train_vectors(path, lambda: map(list, corpus.train()), **made_of)
