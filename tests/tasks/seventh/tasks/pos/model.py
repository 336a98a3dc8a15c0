"""A tagger: words [and ELMo] -> BiLSTM -> a tag for each word."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from elmo_bench.nn.birnn import BiLstm
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Batch, Output


class Tagger(nn.Module):
    """Every word is tagged on its own.

    Args:
        words: Static word vectors.
        elmo_dim: Size of the ELMo vectors at the input; 0 in the baseline.
        tags: The tags of the training data.
        hidden_dim: Units per direction of the BiLSTM.
        dropout: Variational, at its input.
    """

    def __init__(
        self,
        words: WordEmbedding,
        elmo_dim: int,
        tags: Sequence[str],
        hidden_dim: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.words = words
        self.encoder = BiLstm(words.dim + elmo_dim, [hidden_dim], dropout)
        self.dense = nn.Linear(self.encoder.dim, len(tags))
        self.tags = list(tags)

    def forward(self, batch: Batch, elmo: Mapping[str, Tensor]) -> Output:
        inputs = torch.cat([self.words(batch.segments), *elmo.values()], dim=2)
        scores = self.dense(self.encoder(inputs, batch.mask))[batch.row_index()]
        gold = self.gold(batch).to(scores.device)
        losses = nn.functional.cross_entropy(
            scores.transpose(1, 2), gold, ignore_index=-1, reduction="none"
        )
        loss = (losses.sum(dim=1) / (gold >= 0).sum(dim=1).clamp(min=1)).mean()
        if self.training:
            return Output(loss, [])
        return Output(loss, self.best(batch, scores))

    def gold(self, batch: Batch) -> Int[Tensor, "batch time"]:
        """The numbers of the gold tags; -1 for padding, new text and tags unseen in training."""
        gold = torch.full((len(batch), batch.mask.shape[1]), -1)
        number = {tag: n for n, tag in enumerate(self.tags)}
        for row, example in enumerate(batch.examples):
            for time, tag in enumerate(example.target or ()):
                gold[row, time] = number.get(tag, -1)
        return gold

    def best(self, batch: Batch, scores: Float[Tensor, "batch time tag"]) -> list[list[str]]:
        """The best tag of every word."""
        return [
            [self.tags[tag] for tag in row[: len(example.segments[0])]]
            for example, row in zip(batch.examples, scores.argmax(dim=2).tolist(), strict=True)
        ]
