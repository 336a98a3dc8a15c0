"""A frozen transformer as an encoder: BERT and its kin."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from elmo_bench.config.bilm_settings import Pooling
from elmo_bench.errors import UserError
from elmo_bench.features.subwords import Ids, Subwords, Window, pool, windows
from elmo_bench.features.transformer_files import transformer_fingerprint
from elmo_bench.features.transformer_loading import load_model, load_tokenizer, longest_input

BATCH_TOKENS = 4096  # subwords read at once, at most; bounds the memory used
UNLIMITED_WINDOW = 512  # for a model that has no limit of its own


class Row(NamedTuple):
    """A window of a sentence, as the model reads it."""

    sentence: int
    window: Window
    ids: Ids


class TransformerEncoder(nn.Module):
    """All hidden layers of a bidirectional transformer, with one vector per word.

    Layer 0 is the sum of the embeddings. A sentence that the model cannot read at once is read in
    overlapping windows. Only windows of the same length share a batch: there is no padding, and a
    word's vector does not depend on the rest of the batch, except for the rounding of products.

    Args:
        model: Takes `input_ids` and returns `hidden_states`.
        tokenizer: The model's own.
        name: What tables call it.
        content: Hash of the model and the tokenizer.
        pooling: How the vectors of a word's subwords become one.
        window: Subwords read at once, their frame included; None: as many as the model can.
    """

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Any,
        name: str,
        content: str,
        pooling: Pooling = "mean",
        window: int | None = None,
    ) -> None:
        super().__init__()
        self.model, self.subwords = model.eval().requires_grad_(False), Subwords(tokenizer)
        self.name, self.content, self.pooling, self.chosen_window = name, content, pooling, window
        limit = longest_input(model, tokenizer) or window or UNLIMITED_WINDOW
        self.room = min(window or limit, limit) - len(self.subwords.frame([]))
        if self.room < 1 or (window or limit) > limit:
            raise UserError(
                f"bilm.window={window}: {name} reads up to {limit} subwords at once, "
                f"{len(self.subwords.frame([]))} of which are the frame of every window"
            )
        self.num_layers, self.output_dim = self._probe()

    @classmethod
    def load(
        cls,
        folder: Path,
        name: str | None = None,
        pooling: Pooling = "mean",
        window: int | None = None,
        untrained: bool = False,
    ) -> "TransformerEncoder":
        """Load what `save_pretrained` of transformers wrote, model and tokenizer.

        Args:
            folder: Where the files are.
            name: What tables call it; None: the folder's name.
            pooling: How the vectors of a word's subwords become one.
            window: Subwords read at once; None: as many as the model can.
            untrained: Leave the model at random weights, the same at every call.
        """
        tokenizer = load_tokenizer(folder)
        model, content = load_model(folder, untrained)
        return cls(model, tokenizer, name or folder.resolve().name, content, pooling, window)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    def fingerprint(self) -> str:
        """Hash of what determines the layers: files and settings."""
        return transformer_fingerprint(self.content, self.pooling, self.chosen_window)

    @torch.no_grad()
    def embed(
        self, sentences: Sequence[Sequence[str]], *, batch_size: int = 64
    ) -> list[Float[Tensor, "layer _time dim"]]:
        """Float32 layers of each sentence, which is read by itself, in CPU memory."""
        split = self.subwords(sentences)
        sizes = [[len(ids) for ids in words] for words in split]
        rows = [row for number, words in enumerate(split) for row in self._rows(number, words)]
        kept: dict[int, dict[int, Tensor]] = defaultdict(dict)  # by sentence, by window
        results = {}
        for batch in _batches(rows, batch_size):
            layers = self._read([row.ids for row in batch])
            for row, stack in zip(batch, layers.unbind(dim=1), strict=True):
                parts = kept[row.sentence]
                parts[row.window.start] = stack[:, row.window.kept]
                if sum(part.shape[1] for part in parts.values()) == sum(sizes[row.sentence]):
                    subwords = torch.cat([parts[start] for start in sorted(parts)], dim=1)
                    results[row.sentence] = pool(subwords, sizes[row.sentence], self.pooling)
                    del kept[row.sentence]
        empty = torch.empty(self.num_layers, 0, self.output_dim)
        return [results.get(number, empty) for number in range(len(sentences))]

    def _rows(self, number: int, words: list[Ids]) -> Iterator[Row]:
        flat = [subword for ids in words for subword in ids]
        for window in windows(len(flat), self.room) if flat else ():
            yield Row(number, window, self.subwords.frame(flat[window.start : window.end]))

    def _read(self, rows: Sequence[Ids]) -> Float[Tensor, "layer row time dim"]:
        """Layers of rows of the same length, without their frames."""
        ids = torch.tensor(rows, device=self.device)
        with torch.autocast(self.device.type, enabled=False):
            output = self.model(input_ids=ids, output_hidden_states=True)
        first = len(self.subwords.before)
        end = len(rows[0]) - len(self.subwords.after)
        return torch.stack([layer[:, first:end] for layer in output.hidden_states]).cpu().float()

    @torch.no_grad()
    def _probe(self) -> tuple[int, int]:
        """Number and size of the layers; an error if the model is not a bidirectional encoder."""
        one, other = self.subwords.two_ids()
        try:
            layers = self._read([self.subwords.frame([one, end]) for end in (one, other)])
        except Exception as error:  # of any kind: pictures expected, layers of several sizes
            reason = " ".join(str(error).split())[:200]
            raise UserError(
                f"{self.name} does not give one vector per subword and layer, all of the same "
                f"size ({type(error).__name__}: {reason}); choose an encoder of text such as BERT"
            ) from error
        seen = layers[-1, 0, 0] - layers[-1, 1, 0]
        if seen.abs().max() <= 1e-6 * layers[-1, 0, 0].abs().max():
            raise UserError(
                f"{self.name} reads from left to right only: the vector of a word does not depend "
                f"on the words after it; choose a bidirectional encoder such as BERT"
            )
        return layers.shape[0], layers.shape[3]


def _batches(rows: list[Row], batch_size: int) -> Iterator[list[Row]]:
    """Rows of the same length, at most `batch_size` and BATCH_TOKENS at once."""
    batch: list[Row] = []
    for row in sorted(rows, key=lambda row: len(row.ids)):
        most = min(batch_size, max(1, BATCH_TOKENS // len(row.ids)))
        if batch and (len(row.ids) != len(batch[0].ids) or len(batch) >= most):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
