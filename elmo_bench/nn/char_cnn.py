"""A character CNN for task models; the biLM has its own, in bilm/token_encoders.py."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from elmo_bench.data.example import Segment
from elmo_bench.devices import to_device

PADDING, UNKNOWN, BEGIN, END = range(4)


def count_alphabet(segments: Iterable[Segment], min_count: int) -> list[str]:
    """The characters seen at least `min_count` times, in a fixed order."""
    counts = Counter(char for segment in segments for word in segment for char in word)
    return sorted(char for char, count in counts.items() if count >= min_count)


class CharCnn(nn.Module):
    """Convolutions over the characters of a word, ReLU, and the maximum over positions.

    Each distinct word of a batch is encoded once. A word's vector does not depend on the rest of
    the batch: windows that reach past its end count only if it is shorter than the filter.

    Args:
        char_dim: Size of the character vectors.
        filters: Width and number of each kind of filter.
        max_chars: Longer words are truncated.
        alphabet: The known characters; None reads UTF-8 bytes, which cover every character.
        dropout: Applied to the character vectors.
    """

    def __init__(
        self,
        char_dim: int,
        filters: Sequence[Sequence[int]],
        max_chars: int = 50,
        alphabet: Sequence[str] | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        symbols: Iterable[str | int] = range(256) if alphabet is None else alphabet
        self.ids = {symbol: number for number, symbol in enumerate(symbols, start=END + 1)}
        self.by_byte = alphabet is None
        self.max_chars = max_chars
        self.table = nn.Embedding(END + 1 + len(self.ids), char_dim, padding_idx=PADDING)
        self.dropout = nn.Dropout(dropout)
        self.widths = [width for width, _ in filters]
        self.filters = nn.ModuleList(nn.Linear(width * char_dim, num) for width, num in filters)
        self.dim = sum(num for _, num in filters)

    def forward(self, segments: Sequence[Segment]) -> Float[Tensor, "segment time dim"]:
        """Encode the words of segments; padding is zero."""
        # Words of similar length are grouped, so that one long word does not pad all others.
        groups: dict[int, dict[str, list[int]]] = defaultdict(dict)
        for word in dict.fromkeys(word for segment in segments for word in segment):
            spelling = self.spell(word)
            groups[(len(spelling) - 1).bit_length()][word] = spelling
        vectors = [self._encode(list(group.values())) for group in groups.values()]
        table = torch.cat([vectors[0].new_zeros(1, self.dim), *vectors])
        words = (word for group in groups.values() for word in group)
        row = {word: number for number, word in enumerate(words, start=1)}
        time = max(map(len, segments))
        rows = [
            [row[word] for word in segment] + [0] * (time - len(segment)) for segment in segments
        ]
        return table[to_device(torch.tensor(rows), table.device)]

    def spell(self, word: str) -> list[int]:
        """The ids of a word's characters, between begin and end marks."""
        symbols: Sequence[str | int] = word.encode(errors="replace") if self.by_byte else word
        chars = [self.ids.get(symbol, UNKNOWN) for symbol in symbols[: self.max_chars]]
        return [BEGIN, *chars, END]

    def _encode(self, spellings: list[list[int]]) -> Float[Tensor, "word dim"]:
        size = max(max(map(len, spellings)), *self.widths)
        padded = [spelling + [PADDING] * (size - len(spelling)) for spelling in spellings]
        device = self.table.weight.device
        lengths = to_device(torch.tensor([len(spelling) for spelling in spellings]), device)
        chars = self.dropout(self.table(to_device(torch.tensor(padded), device)))
        pairs = zip(self.widths, self.filters, strict=True)
        return torch.cat([_pool(chars, lengths, width, linear) for width, linear in pairs], dim=1)


def _pool(
    chars: Float[Tensor, "word char dim"],
    lengths: Int[Tensor, " word"],
    width: int,
    linear: nn.Module,
) -> Float[Tensor, "word out"]:
    """Apply filters of one width and take the maximum.

    On CPU, a product with shifted copies is faster than Conv1d.
    """
    num_windows = chars.shape[1] - width + 1
    windows = torch.cat([chars[:, shift : shift + num_windows] for shift in range(width)], dim=2)
    beyond = torch.arange(num_windows, device=lengths.device) > (lengths - width).unsqueeze(1)
    beyond[:, 0] = False
    scores = linear(windows).masked_fill(beyond.unsqueeze(2), float("-inf"))
    return scores.max(dim=1).values.relu()
