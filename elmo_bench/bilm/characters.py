"""Words as bytes: the character ids of bilm-tf, without its +1 shift for padded rows."""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

BOS, EOS, UNK = "<S>", "</S>", "<UNK>"  # the first three lines of every vocabulary

# 0-255 are bytes; the others mark the ends of sentences and words, and padding.
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PAD = range(256, 261)
NUM_CHARS = 261


def spell(word: str, max_chars: int) -> list[int]:
    """Character ids of one word with begin and end marks, unpadded; long words are truncated."""
    if word == BOS:
        return [BEGIN_WORD, BEGIN_SENTENCE, END_WORD]
    if word == EOS:
        return [BEGIN_WORD, END_SENTENCE, END_WORD]
    return [BEGIN_WORD, *word.encode("utf-8", "ignore")[: max_chars - 2], END_WORD]


def char_ids(words: Sequence[str], max_chars: int) -> Int[Tensor, "word char"]:
    """Character ids of words, padded to `max_chars`."""
    spelled = [spell(word, max_chars) for word in words]
    rows = [chars + [PAD] * (max_chars - len(chars)) for chars in spelled]
    return torch.tensor(rows, dtype=torch.long).reshape(len(words), max_chars)
