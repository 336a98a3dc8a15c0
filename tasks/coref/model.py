"""End-to-end coreference of Lee et al. (2017): one model finds spans and links them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from elmo_bench.data.example import Example
from elmo_bench.devices import to_device
from elmo_bench.nn.char_cnn import CharCnn
from elmo_bench.nn.packed import Packing
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Batch, Output
from elmo_bench.tasks.coref.encoder import CoupledBiLstm
from elmo_bench.tasks.coref.mentions import MentionFinder, Mentions
from elmo_bench.tasks.coref.pairs import PairScorer
from elmo_bench.tasks.coref.spans import cluster_numbers, linked

UNKNOWN_GENRE = 0


class Excerpt(NamedTuple):
    """The sentences of a document that are read; in evaluation, all of them."""

    example: Example
    rows: tuple[int, ...]  # of its sentences, in the batch
    offset: int  # number of words before it in the document


class Coreference(nn.Module):
    """Words, characters [and ELMo] -> BiLSTM per sentence -> spans -> the antecedent of each.

    Args:
        words: Static word vectors; words.normalize scales them to length 1.
        chars: Embeds the characters of a word.
        encoder: Reads each sentence separately.
        mentions: Finds the spans to compare; the word vectors it sums exclude ELMo.
        pairs: Scores a span with an earlier one.
        genres: The genres of the training data.
        max_sentences: Training reads a random run of this many sentences of a longer document.
        lexical_dropout: On words and characters.
        dropout: On the states of the encoder.
    """

    def __init__(
        self,
        words: WordEmbedding,
        chars: CharCnn,
        encoder: CoupledBiLstm,
        mentions: MentionFinder,
        pairs: PairScorer,
        genres: Sequence[str],
        max_sentences: int,
        lexical_dropout: float,
        dropout: float,
    ) -> None:
        super().__init__()
        self.words, self.chars, self.encoder = words, chars, encoder
        self.mentions, self.pairs = mentions, pairs
        self.genres = {genre: number for number, genre in enumerate(genres, UNKNOWN_GENRE + 1)}
        self.max_sentences = max_sentences
        self.lexical_dropout, self.dropout = nn.Dropout(lexical_dropout), nn.Dropout(dropout)

    def forward(self, batch: Batch, elmo: Mapping[str, Tensor]) -> Output:
        excerpts = [
            self.excerpt(example, rows)
            for example, rows in zip(batch.examples, batch.rows, strict=True)
        ]
        inputs, states, positions = self.encode(batch, elmo, excerpts)
        losses, predictions = [], []
        for excerpt in excerpts:
            index, sentences = _words(excerpt, positions, states.device)
            mentions = self.mentions(states[index], inputs[index], sentences)
            scores = self.antecedent_scores(excerpt, mentions)
            spans = [(s + excerpt.offset, e + excerpt.offset) for s, e in _ends(mentions)]
            clusters = cluster_numbers(spans, excerpt.example.target.clusters)
            losses.append(marginal_loss(scores, to_device(torch.tensor(clusters), scores.device)))
            if not self.training:
                back = scores.argmax(dim=1).tolist()
                predictions.append(
                    linked(spans, [n - step if step else None for n, step in enumerate(back)])
                )
        return Output(torch.stack(losses).mean(), predictions)

    def excerpt(self, example: Example, rows: tuple[int, ...]) -> Excerpt:
        """Return the whole document or, in training, a part of a long one."""
        first = 0
        if self.training and len(rows) > self.max_sentences:
            first = int(torch.randint(len(rows) - self.max_sentences + 1, ()))
            rows = rows[first : first + self.max_sentences]
        return Excerpt(example, rows, sum(map(len, example.segments[:first])))

    def encode(
        self, batch: Batch, elmo: Mapping[str, Tensor], excerpts: list[Excerpt]
    ) -> tuple[
        Float[Tensor, "word in"], Float[Tensor, "word dim"], dict[int, Int[Tensor, " time"]]
    ]:
        """Return inputs and states of the words that are read, and the positions of each row's."""
        rows = sorted({row for excerpt in excerpts for row in excerpt.rows})
        segments = [batch.segments[row] for row in rows]
        mask = batch.mask[rows, : max(map(len, segments))]
        packing = Packing(mask)
        vectors = [self.words(segments), self.chars(segments)]
        inputs = self.lexical_dropout(packing.pack(torch.cat(vectors, dim=2)))
        chosen = to_device(torch.tensor(rows), mask.device)
        layers = {name: packing.pack(vectors, chosen) for name, vectors in elmo.items()}
        read = torch.cat([inputs, layers["input"]], dim=1) if "input" in layers else inputs
        states = self.dropout(self.encoder(read, packing))
        if "output" in layers:
            states = torch.cat([states, layers["output"]], dim=1)
        order = torch.empty(mask.shape, dtype=torch.long, device=mask.device)
        order[packing.segments, packing.times] = torch.arange(len(states), device=mask.device)
        positions = {row: order[n, : len(segments[n])] for n, row in enumerate(rows)}
        return inputs, states, positions

    def antecedent_scores(
        self, excerpt: Excerpt, mentions: Mentions
    ) -> Float[Tensor, "span distance"]:
        target = excerpt.example.target
        number = {speaker: index for index, speaker in enumerate(dict.fromkeys(target.speakers))}
        said_by = [number[target.speakers[s + excerpt.offset]] for s in mentions.starts.tolist()]
        speakers = to_device(torch.tensor(said_by), mentions.vectors.device)
        genre = self.genres.get(target.genre, UNKNOWN_GENRE)
        return self.pairs(mentions.vectors, mentions.scores, speakers, genre)


def marginal_loss(
    scores: Float[Tensor, "span distance"], clusters: Int[Tensor, " span"]
) -> Float[Tensor, ""]:
    """Negative log-probability that every span takes one of its true antecedents.

    A span without a true antecedent takes distance 0, which means no antecedent.
    """
    reach = scores.shape[1]
    earlier = F.pad(clusters, (reach - 1, 0)).unfold(0, reach, 1).flip(1)  # at distance 0, 1, ...
    true = (earlier == clusters.unsqueeze(1)) & (clusters > 0).unsqueeze(1)
    true[:, 0] = ~true[:, 1:].any(dim=1)
    right = scores.masked_fill(~true, float("-inf"))
    return (scores.logsumexp(dim=1) - right.logsumexp(dim=1)).sum()


def _ends(mentions: Mentions) -> list[tuple[int, int]]:
    return list(zip(mentions.starts.tolist(), mentions.ends.tolist(), strict=True))


def _words(
    excerpt: Excerpt, positions: Mapping[int, Tensor], device: torch.device
) -> tuple[Int[Tensor, " word"], Int[Tensor, " word"]]:
    """The positions of an excerpt's words among all that are read, and their sentences."""
    index = torch.cat([positions[row] for row in excerpt.rows])
    lengths = to_device(torch.tensor([len(positions[row]) for row in excerpt.rows]), device)
    return index, torch.arange(len(lengths), device=device).repeat_interleave(lengths)
