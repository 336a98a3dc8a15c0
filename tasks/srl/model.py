"""Deep highway LSTM tagger of He et al. (2017): one pass over the sentence per predicate."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from elmo_bench.data.example import Example
from elmo_bench.data.tags import Span, iob2_transitions, read_spans, write_iob2
from elmo_bench.devices import to_device
from elmo_bench.nn.crf import ChainScores, rule_scores, viterbi
from elmo_bench.nn.packed import Packing
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Batch, Output
from elmo_bench.tasks.srl.encoder import HighwayLstm

UNKNOWN = -100  # index of a tag not seen in training; ignored in the loss


class RoleTagger(nn.Module):
    """Words, predicate indicator [and ELMo] -> highway LSTM -> scores of IOB2 tags.

    Trained on every tag independently; decoding finds the best valid IOB2 sequence.

    Args:
        words: Static word vectors.
        elmo_dims: Size of the ELMo vectors by placement, at the input and output of the LSTM.
        labels: Labels of the arguments in the training data, including V.
        predicate_dim: Size of the embedding that indicates whether a word is the predicate.
        hidden_dim: Units of each LSTM layer.
        num_layers: Number of layers, in alternating directions.
        dropout: Recurrent, with one mask per sequence and layer.
    """

    def __init__(
        self,
        words: WordEmbedding,
        elmo_dims: Mapping[str, int],
        labels: Sequence[str],
        predicate_dim: int,
        hidden_dim: int,
        num_layers: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.words = words
        self.predicate = nn.Embedding(2, predicate_dim)
        input_dim = words.dim + predicate_dim + elmo_dims.get("input", 0)
        self.encoder = HighwayLstm(input_dim, hidden_dim, num_layers, dropout)
        self.tags = ["O", *(f"{prefix}-{label}" for label in labels for prefix in "BI")]
        self.index = {tag: number for number, tag in enumerate(self.tags)}
        self.dense = nn.Linear(hidden_dim + elmo_dims.get("output", 0), len(self.tags))
        # As in AllenNLP's model.
        nn.init.xavier_uniform_(self.predicate.weight)
        nn.init.orthogonal_(self.dense.weight)
        for name, rule in rule_scores(iob2_transitions(self.tags))._asdict().items():
            self.register_buffer(f"{name}_rule", rule, persistent=False)

    def forward(self, batch: Batch, elmo: Mapping[str, Tensor]) -> Output:
        rows = batch.row_index()
        mask = batch.mask[rows]
        packing = Packing(mask)
        scores = self.dense(self.encode(batch, elmo, packing, rows))  # (row, tag)
        gold = self.gold_tags(batch)[packing.segments, packing.times]
        loss = F.cross_entropy(scores, gold, ignore_index=UNKNOWN, reduction="sum") / len(batch)
        if self.training:
            return Output(loss, [])
        rules = ChainScores(*(getattr(self, f"{name}_rule") for name in ChainScores._fields))
        best = viterbi(packing.unpack(scores), mask, rules)
        return Output(loss, [_arguments([self.tags[tag] for tag in path]) for path in best])

    def encode(
        self,
        batch: Batch,
        elmo: Mapping[str, Tensor],
        packing: Packing,
        rows: Int[Tensor, " batch"],
    ) -> Float[Tensor, "row dim"]:
        """Return the states of every word, for the predicate of every example."""
        # A sentence is embedded once, however many of its predicates are in the batch.
        sentence = self.words(batch.segments)
        if "input" in elmo:
            sentence = torch.cat([sentence, elmo["input"]], dim=2)
        positions = [example.target.predicate for example in batch.examples]
        predicates = to_device(torch.tensor(positions), rows.device)
        is_predicate = (packing.times == predicates[packing.segments]).long()
        inputs = [packing.pack(sentence, rows), self.predicate(is_predicate)]
        states = self.encoder(torch.cat(inputs, dim=1), packing)
        if "output" in elmo:
            states = torch.cat([states, packing.pack(elmo["output"], rows)], dim=1)
        return states

    def gold_tags(self, batch: Batch) -> Int[Tensor, "batch time"]:
        """Return the indices of the gold tags; UNKNOWN beyond the end of a sentence."""
        gold = torch.full((len(batch), batch.mask.shape[1]), UNKNOWN)
        for row, example in zip(gold, batch.examples, strict=True):
            tags = [self.index.get(tag, UNKNOWN) for tag in _tags(example)]
            row[: len(tags)] = torch.tensor(tags)
        return to_device(gold, batch.mask.device)


def _tags(example: Example) -> list[str]:
    spans = [Span(label, first, last + 1) for first, last, label in example.target.arguments]
    return write_iob2(spans, len(example.segments[0]))


def _arguments(tags: Sequence[str]) -> list[list[int | str]]:
    return [[span.start, span.end - 1, span.label] for span in read_spans(tags)]
