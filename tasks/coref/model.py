"""End-to-end coreference of Lee et al. (2017): spans are found and linked by one model."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from elmo_bench.data.example import Example
from elmo_bench.nn.char_cnn import CharCnn
from elmo_bench.nn.packed import Packing
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Batch, Output
from tasks.coref.encoder import CoupledBiLstm
from tasks.coref.mentions import MentionFinder, Mentions
from tasks.coref.pairs import PairScorer
from tasks.coref.spans import cluster_numbers, linked

UNKNOWN_GENRE = 0


class Excerpt(NamedTuple):
    """The sentences of a document that are read; in evaluation these are all."""

    example: Example
    rows: tuple[int, ...]  # of its sentences, in the batch
    offset: int  # words of the document before it


class Coreference(nn.Module):
    """Words, characters [and ELMo] -> BiLSTM per sentence -> spans -> the antecedent of each.

    Args:
        words: Static word vectors, brought to length 1.
        chars: Characters of a word to a vector.
        encoder: Reads each sentence alone.
        mentions: Finds the spans that are compared; ELMo vectors are no part of its inputs.
        pairs: Scores a span with one before it.
        genres: The genres of the training data.
        max_sentences: Training takes so many sentences in a row of a longer document, at random.
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
        inputs, states, place = self.encode(batch, elmo, excerpts)
        losses, predictions = [], []
        for excerpt in excerpts:
            index, sentences = _words(excerpt, place, states.device)
            mentions = self.mentions(states[index], inputs[index], sentences)
            scores = self.antecedent_scores(excerpt, mentions)
            spans = [(s + excerpt.offset, e + excerpt.offset) for s, e in _ends(mentions)]
            clusters = cluster_numbers(spans, excerpt.example.target.clusters)
            losses.append(marginal_loss(scores, torch.tensor(clusters, device=scores.device)))
            if not self.training:
                back = scores.argmax(dim=1).tolist()
                predictions.append(
                    linked(spans, [n - step if step else None for n, step in enumerate(back)])
                )
        return Output(torch.stack(losses).mean(), predictions)

    def excerpt(self, example: Example, rows: tuple[int, ...]) -> Excerpt:
        """The whole document; in training a part of it, when it is long."""
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
        """Input vectors and states of the words that are read, and where those of a row are."""
        rows = sorted({row for excerpt in excerpts for row in excerpt.rows})
        segments = [batch.segments[row] for row in rows]
        mask = batch.mask[rows, : max(map(len, segments))]
        packing = Packing(mask)
        vectors = [F.normalize(self.words(segments), dim=2), self.chars(segments)]
        inputs = self.lexical_dropout(packing.pack(torch.cat(vectors, dim=2)))
        chosen = torch.tensor(rows, device=mask.device)
        layers = {place: packing.pack(vectors, chosen) for place, vectors in elmo.items()}
        read = torch.cat([inputs, layers["input"]], dim=1) if "input" in layers else inputs
        states = self.dropout(self.encoder(read, packing))
        if "output" in layers:
            states = torch.cat([states, layers["output"]], dim=1)
        order = torch.empty(mask.shape, dtype=torch.long, device=mask.device)
        order[packing.segments, packing.times] = torch.arange(len(states), device=mask.device)
        place = {row: order[n, : len(segments[n])] for n, row in enumerate(rows)}
        return inputs, states, place

    def antecedent_scores(
        self, excerpt: Excerpt, mentions: Mentions
    ) -> Float[Tensor, "span distance"]:
        target = excerpt.example.target
        number = {speaker: index for index, speaker in enumerate(dict.fromkeys(target.speakers))}
        said_by = [number[target.speakers[s + excerpt.offset]] for s in mentions.starts.tolist()]
        speakers = torch.tensor(said_by, device=mentions.vectors.device)
        genre = self.genres.get(target.genre, UNKNOWN_GENRE)
        return self.pairs(mentions.vectors, mentions.scores, speakers, genre)


def marginal_loss(
    scores: Float[Tensor, "span distance"], clusters: Int[Tensor, " span"]
) -> Float[Tensor, ""]:
    """-log of the probability that every span takes one of its true antecedents.

    A span without one takes none, at distance 0.
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
    excerpt: Excerpt, place: Mapping[int, Tensor], device: torch.device
) -> tuple[Int[Tensor, " word"], Int[Tensor, " word"]]:
    """Where the words of a document are among those that are read, and their sentences."""
    index = torch.cat([place[row] for row in excerpt.rows])
    lengths = torch.tensor([len(place[row]) for row in excerpt.rows], device=device)
    return index, torch.arange(len(lengths), device=device).repeat_interleave(lengths)
