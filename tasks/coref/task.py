"""Coreference resolution behind the contract of a task."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from torch import nn

from elmo_bench.data.example import Example, Segment, Skipped, Split
from elmo_bench.data.files import DataError
from elmo_bench.data.pairs import check_same_tokens
from elmo_bench.data.tokenizer import tokenize
from elmo_bench.metrics import score_coref
from elmo_bench.metrics.coref import METRICS, count_coref
from elmo_bench.nn.char_cnn import CharCnn
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Annotation, Counts, Task
from tasks.coref import data
from tasks.coref.conll import write_conll
from tasks.coref.encoder import CoupledBiLstm
from tasks.coref.mentions import MentionFinder
from tasks.coref.model import Coreference
from tasks.coref.pairs import PairScorer

SENTENCE_ENDS = {".", "!", "?"}


class CorefTask(Task):
    """Clusters of mentions in a document.

    A prediction is a list of clusters, each a list of [first word, last word] in the document.

    Args:
        char_dim: Size of the character embeddings.
        char_filters: Width and number of each kind of character filter.
        hidden_dim: Units per direction of the BiLSTM.
        max_width: Words in a span at the most.
        spans_per_word: How many spans are kept for each word of the document.
        max_antecedents: With so many spans before it a span is compared at the most.
        scorer_dim: Size of the hidden layers that score spans and pairs.
        feature_dim: Size of the vectors of width, speaker, genre and distance.
        lexical_dropout: On words and characters.
        dropout: Of everything else.
        max_sentences: Training takes so many sentences in a row of a longer document, at random.
    """

    suffix = "conll"

    def __init__(
        self,
        char_dim: int,
        char_filters: Sequence[Sequence[int]],
        hidden_dim: int,
        max_width: int,
        spans_per_word: float,
        max_antecedents: int,
        scorer_dim: int,
        feature_dim: int,
        lexical_dropout: float,
        dropout: float,
        max_sentences: int,
    ) -> None:
        self.char_dim = char_dim
        self.char_filters = char_filters
        self.hidden_dim = hidden_dim
        self.max_width = max_width
        self.spans_per_word = spans_per_word
        self.max_antecedents = max_antecedents
        self.scorer_dim = scorer_dim
        self.feature_dim = feature_dim
        self.lexical_dropout = lexical_dropout
        self.dropout = dropout
        self.max_sentences = max_sentences

    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]:
        return data.read(path, skipped)

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, skipped: Skipped
    ) -> Iterator[Example]:
        return data.from_hub(rows, skipped)

    def label_vocabulary(self, train: Sequence[Example]) -> dict[str, Any]:
        return {"genres": sorted({example.target.genre for example in train})}

    def build_model(
        self,
        words: WordEmbedding,
        elmo_dims: Mapping[str, int],
        label_vocabulary: Mapping[str, Any],
    ) -> nn.Module:
        chars = CharCnn(self.char_dim, self.char_filters)
        input_dim = words.dim + chars.dim
        encoder = CoupledBiLstm(
            input_dim + elmo_dims.get("input", 0), self.hidden_dim, self.dropout
        )
        mentions = MentionFinder(
            encoder.dim + elmo_dims.get("output", 0),
            input_dim,
            self.max_width,
            self.spans_per_word,
            self.feature_dim,
            self.scorer_dim,
            self.dropout,
        )
        pairs = PairScorer(
            mentions.dim,
            len(label_vocabulary["genres"]) + 1,
            self.feature_dim,
            self.scorer_dim,
            self.max_antecedents,
            self.dropout,
        )
        return Coreference(
            words,
            chars,
            encoder,
            mentions,
            pairs,
            label_vocabulary["genres"],
            self.max_sentences,
            self.lexical_dropout,
            self.dropout,
        )

    def gold(self, example: Example) -> list[list[list[int]]]:
        return [[list(mention) for mention in cluster] for cluster in example.target.clusters]

    def score(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, float]:
        pairs = zip(examples, predictions, strict=True)
        scores = score_coref([_document(*pair) for pair in pairs])
        flat = {f"{metric}_{name}": v for metric in METRICS for name, v in scores[metric].items()}
        return {"conll_f1": scores["conll_f1"], **flat}

    def counts(self, example: Example, prediction: Any) -> Counts:
        return list(count_coref(_document(example, prediction)))

    def annotate(self, example: Example, prediction: Any) -> Annotation:
        ends = list(accumulate(map(len, example.segments)))
        spans = []
        for number, cluster in enumerate(prediction, start=1):
            for first, last in cluster:
                segment = next(n for n, end in enumerate(ends) if first < end)
                begin = ends[segment] - len(example.segments[segment])
                spans.append((segment, first - begin, last - begin, str(number)))
        return Annotation(spans=tuple(sorted(spans)))

    def parse(self, text: str) -> Example:
        """Read a text whose sentences end with a full stop or sign, or are separated by `|`."""
        sentences = tuple(_sentences(text))
        if not sentences:
            raise ValueError(
                "type a text: sentences that end with . ! or ?, or with | between them"
            )
        speakers = ("-",) * sum(map(len, sentences))
        target = data.CorefTarget("text", 0, data.genre("text"), speakers, ())
        return Example("", sentences, target)

    def write_predictions(
        self, examples: Sequence[Example], predictions: Sequence[Any], path: Path
    ) -> None:
        """Write a CoNLL-2012 file that the official scorer takes."""
        write_conll(examples, predictions, path)

    def score_files(self, gold: Path, predicted: Path, partial: bool = False) -> dict[str, Any]:
        """Score the same documents in both files, in whatever order."""
        # A predicted mention may be in two clusters: the scorer has rules of its own for that.
        found = {example.id: example for example in data.read(predicted, None)}
        documents = []
        for ours in data.read(gold, Counter()):
            if partial and ours.id not in found:
                continue
            if ours.id not in found:
                raise DataError(predicted, None, f"has no document {ours.id}, which gold has")
            theirs = found.pop(ours.id)
            check_same_tokens(ours, theirs, predicted)
            documents.append(_document(ours, theirs.target.clusters))
        if found:
            raise DataError(predicted, None, f"gold has no document {min(found)}")
        return score_coref(documents)


def _document(example: Example, predicted: Any) -> dict[str, Any]:
    gold = example.target.clusters
    return {"sentences": example.segments, "gold": gold, "pred": predicted}


def _sentences(text: str) -> Iterator[Segment]:
    if "|" in text:
        yield from filter(None, map(tokenize, text.split("|")))
        return
    sentence: Segment = ()
    for token in tokenize(text):
        sentence += (token,)
        if token in SENTENCE_ENDS:
            yield sentence
            sentence = ()
    if sentence:
        yield sentence
