"""The token encoder that ignores characters: a table of word vectors."""

from collections.abc import Sequence
from math import sqrt
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding

from elmo_bench.bilm.characters import UNK
from elmo_bench.bilm.panels import in_panels
from elmo_bench.data.files import DataError
from elmo_bench.data.vectors import read_vectors
from elmo_bench.errors import UserError


class WordEncoder(nn.Module):
    """One vector per vocabulary word, learned or from a vector file; other words use <UNK>'s.

    Args:
        output_dim: Size of the word vectors that the LSTMs read.
        word_dim: Size of the stored vectors; they are projected if it differs from output_dim.
        vectors: Text file of pretrained vectors (GloVe's format), or None to learn from scratch.
        trainable: Whether pretraining updates the vectors.
        vocabulary: The words of the table.
    """

    def __init__(
        self,
        output_dim: int,
        word_dim: int,
        vectors: str | Path | None,
        trainable: bool,
        vocabulary: Sequence[str],
    ) -> None:
        super().__init__()
        self.rows = {word: row for row, word in enumerate(vocabulary)}
        if UNK not in self.rows:
            raise UserError(
                f"the vocabulary of a word encoder must contain {UNK} for unknown words."
            )
        table = torch.randn(len(vocabulary), word_dim) / sqrt(word_dim)
        if vectors is not None:
            _fill_from_file(table, self.rows, Path(vectors))
        self.table = nn.Parameter(table, requires_grad=trainable)
        self.projection = (
            nn.Identity() if word_dim == output_dim else nn.Linear(word_dim, output_dim)
        )

    def ids(self, words: Sequence[str]) -> Int[Tensor, "word char"]:
        unknown = self.rows[UNK]
        rows = [self.rows.get(word, unknown) for word in words]
        return torch.tensor(rows, dtype=torch.long).unsqueeze(1)

    def forward(self, ids: Int[Tensor, "word char"]) -> Float[Tensor, "word dim"]:
        return in_panels(self.projection, embedding(ids[:, 0], self.table))


def _fill_from_file(table: Tensor, rows: dict[str, int], path: Path) -> None:
    """Overwrite the rows of the words found in the vector file."""
    for word, vector in read_vectors(path, rows).items():
        if len(vector) != table.shape[1]:
            problem = f"{len(vector)} values, but bilm.encoder.word_dim={table.shape[1]}"
            raise DataError(path, None, problem)
        table[rows[word]] = torch.from_numpy(vector)
