"""The static word vectors of a run: learned with the task, from a file, or from the biLM's text."""

from collections.abc import Sequence
from pathlib import Path

from elmo_bench.config.settings import CorpusWords, GloveWords, NoWords, RandomWords, RunSettings
from elmo_bench.data.example import Example, Segment, distinct_segments
from elmo_bench.data.vectors import train_vectors
from elmo_bench.nn.word_embedding import WordEmbedding, no_words, pretrained_words, random_words
from elmo_bench.pretraining.corpus import build_corpus
from elmo_bench.pretraining.identity import text_identity, training_text
from elmo_bench.records.digest import digest
from elmo_bench.runs.pretraining import bilm_source


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
            path = Path(words.path).expanduser()
        case CorpusWords():
            path = _corpus_vectors(settings, words)
    embedding = pretrained_words(
        path, known, segments, words.lowercase, words.trainable, words.word_dropout
    )
    coverage = embedding.coverage(segments)
    print(f"{path.name}: vectors for {coverage.tokens:.1f} % of the tokens")
    return embedding


def _corpus_vectors(settings: RunSettings, words: CorpusWords) -> Path:
    """Vectors trained on the biLM's text, which its folder records."""
    folder, cache = bilm_source(settings), Path(settings.paths.cache)
    source = training_text(folder)
    made_of = words.model_dump(include={"dim", "lowercase", "min_count", "window", "epochs"})
    name = digest([text_identity(source, cache), made_of])
    corpus = build_corpus(source, cache)
    path = cache / "vectors" / f"{folder.name}-{name}.txt"
    return train_vectors(path, lambda: map(list, corpus.train()), **made_of)
