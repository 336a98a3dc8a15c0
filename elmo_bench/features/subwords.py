"""Words as subwords: how they are split, cut into windows, and put together again."""

from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from elmo_bench.config.bilm_settings import Pooling

Ids = list[int]


class Subwords:
    """Splits words with a tokenizer of the package transformers.

    A tokenizer treats the words of a sentence that is already split independently of each other,
    so each distinct word is split once.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        # For a word that the tokenizer deletes, such as a control character.
        self.unknown: Ids = [tokenizer.unk_token_id or tokenizer.mask_token_id or 0]
        framed = tokenizer(["a"], is_split_into_words=True)["input_ids"]
        alone = self._split(["a"])["a"]
        start = next(i for i in range(len(framed)) if framed[i : i + len(alone)] == alone)
        self.before: Ids = framed[:start]  # [CLS] or the like
        self.after: Ids = framed[start + len(alone) :]  # [SEP] or the like

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[list[Ids]]:
        """The subwords of each word of each sentence, at least one for every word."""
        ids = self._split([word for sentence in sentences for word in sentence])
        return [[ids[word] for word in sentence] for sentence in sentences]

    def frame(self, ids: Ids) -> Ids:
        """With what the model expects at both ends."""
        return [*self.before, *ids, *self.after]

    def two_ids(self) -> tuple[int, int]:
        """Any two subwords that are not part of a frame."""
        special = set(self.tokenizer.all_special_ids)
        one, other = islice((i for i in range(len(self.tokenizer)) if i not in special), 2)
        return one, other

    def _split(self, words: Sequence[str]) -> dict[str, Ids]:
        distinct = list(dict.fromkeys(words))
        if not distinct:
            return {}
        # A half of a surrogate pair is no text, and the tokenizers refuse it.
        texts = [[word.encode("utf-8", "replace").decode()] for word in distinct]
        found = self.tokenizer(texts, is_split_into_words=True, add_special_tokens=False)
        return {
            word: ids or self.unknown
            for word, ids in zip(distinct, found["input_ids"], strict=True)
        }


class Window(NamedTuple):
    """A part of a sentence that is read at once, and the part of it that is kept."""

    start: int
    end: int
    kept: slice  # within the window


def windows(length: int, size: int) -> list[Window]:
    """Windows over a sentence: one if it fits, else overlapping by half or more.

    Each subword is kept once, from a window in which it has at least a quarter of the window on
    both sides, except at the ends of the sentence.
    """
    if length <= size:
        return [Window(0, length, slice(0, length))]
    starts = [*range(0, length - size, -(-size // 2)), length - size]
    # Where one window ends to be kept and the next begins: in the middle of what they share.
    borders = [0, *((a + size + b) // 2 for a, b in pairwise(starts)), length]
    return [
        Window(start, start + size, slice(borders[i] - start, borders[i + 1] - start))
        for i, start in enumerate(starts)
    ]


def pool(
    subwords: Float[Tensor, "layer subword dim"], sizes: Sequence[int], pooling: Pooling
) -> Float[Tensor, "layer time dim"]:
    """The vectors of words from those of their subwords.

    Args:
        subwords: In order.
        sizes: The number of subwords of each word.
        pooling: Take the first or the last subword, or the mean of all.
    """
    counts = torch.tensor(sizes)
    ends = counts.cumsum(0)
    if pooling == "first":
        return subwords[:, ends - counts]
    if pooling == "last":
        return subwords[:, ends - 1]
    words = torch.arange(len(sizes)).repeat_interleave(counts)
    sums = subwords.new_zeros(len(subwords), len(sizes), subwords.shape[2])
    return sums.index_add_(1, words, subwords) / counts[:, None]
