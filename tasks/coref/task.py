"""Coreference resolution as a `Task`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from torch import nn

from elmo_bench.data.example import Example, Segment, Skipped, Split
from elmo_bench.data.files import DataError
from elmo_bench.data.paired_files import check_same_tokens
from elmo_bench.data.tokenizer import tokenize
from elmo_bench.errors import UserError
from elmo_bench.metrics import score_coref
from elmo_bench.metrics.coref import METRICS, count_coref
from elmo_bench.nn.char_cnn import CharCnn
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Annotation, Counts, Task
from elmo_bench.tasks.coref import data
from elmo_bench.tasks.coref.conll import write_conll
from elmo_bench.tasks.coref.encoder import CoupledBiLstm
from elmo_bench.tasks.coref.mentions import MentionFinder
from elmo_bench.tasks.coref.model import Coreference
from elmo_bench.tasks.coref.pairs import PairScorer
from elmo_bench.tasks.coref.settings import Settings

SENTENCE_ENDS = {".", "!", "?"}


class CorefTask(Task):
    """Clusters of mentions in a document.

    A prediction is a list of clusters, each a list of [first word, last word] in the document.
    """

    suffix = "conll"
    example_text = "Ann met Bob . She liked him ."

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def read(self, path: Path, split: Split, skipped: Skipped) -> Iterator[Example]:
        return data.read(path, data.resolution(split, skipped))

    def from_hub(
        self, rows: Iterable[Mapping[str, Any]], split: Split, skipped: Skipped
    ) -> Iterator[Example]:
        return data.from_hub(rows, data.resolution(split, skipped))

    def label_vocabulary(self, train: Sequence[Example]) -> dict[str, Any]:
        return {"genres": sorted({example.target.genre for example in train})}

    def build_model(
        self,
        words: WordEmbedding,
        elmo_dims: Mapping[str, int],
        label_vocabulary: Mapping[str, Any],
    ) -> nn.Module:
        chars = CharCnn(self.settings.char_dim, self.settings.char_filters)
        input_dim = words.dim + chars.dim
        encoder = CoupledBiLstm(
            input_dim + elmo_dims.get("input", 0), self.settings.hidden_dim, self.settings.dropout
        )
        mentions = MentionFinder(
            encoder.dim + elmo_dims.get("output", 0),
            input_dim,
            self.settings.max_width,
            self.settings.spans_per_word,
            self.settings.feature_dim,
            self.settings.scorer_dim,
            self.settings.dropout,
        )
        pairs = PairScorer(
            mentions.dim,
            len(label_vocabulary["genres"]) + 1,
            self.settings.feature_dim,
            self.settings.scorer_dim,
            self.settings.max_antecedents,
            self.settings.dropout,
        )
        return Coreference(
            words,
            chars,
            encoder,
            mentions,
            pairs,
            label_vocabulary["genres"],
            self.settings.max_sentences,
            self.settings.lexical_dropout,
            self.settings.dropout,
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

    def kind(self, example: Example) -> str:
        genre: str = example.target.genre
        return genre

    def parse(self, text: str) -> Example:
        """Parse a text whose sentences end with . ! or ?, or are separated by `|`."""
        sentences = tuple(_sentences(text))
        if not sentences:
            raise UserError("type a text whose sentences end with . ! or ?, or are separated by |")
        speakers = ("-",) * sum(map(len, sentences))
        target = data.CorefTarget("text", 0, data.genre("text"), speakers, ())
        return Example("", sentences, target)

    def write_predictions(
        self, examples: Sequence[Example], predictions: Sequence[Any], path: Path
    ) -> None:
        """Write a CoNLL-2012 file for the official scorer."""
        write_conll(examples, predictions, path)

    def score_files(self, gold: Path, predicted: Path, partial: bool = False) -> dict[str, Any]:
        """Score the same documents in both files, in any order."""
        # A predicted mention may be in two clusters: the scorer has its own rules for that.
        found = {example.id: example for example in data.read(predicted, lambda clusters: clusters)}
        documents = []
        for ours in data.read(gold, data.resolution("test", Counter())):
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
