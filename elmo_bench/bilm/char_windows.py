"""The character convolutions of many words for devices without the compiled kernel.

All filters are one product: a filter is extended by zeros to the widest one, which costs a sixth
more multiplications at the original size and saves most launches.
"""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import embedding, linear, pad

from elmo_bench.devices import to_device

_EDGES = (6, 8, 10, 14, 20)  # greatest lengths of words that are convolved together
_GROUP_CHARS = 1 << 17  # characters convolved at once: 1 GB of window values at the original size


def window_maxima(
    ids: Int[Tensor, "word char"],
    lengths: Int[Tensor, " word"],
    chars: Float[Tensor, "byte dim"],
    kernels: Sequence[Float[Tensor, "_filter _window"]],
) -> Float[Tensor, "word filter"]:
    """Maximum of each filter over all windows of each word.

    Windows that see only padding have one value, so one of them is enough.
    """
    max_chars = ids.shape[1]
    widest = max(kernel.shape[1] for kernel in kernels) // chars.shape[1]
    weight = torch.cat([pad(k, (0, widest * chars.shape[1] - k.shape[1])) for k in kernels])
    # The copy is the one time that this waits for the device.
    ascending, order = lengths.cpu().sort(stable=True)
    spelled = ids[to_device(order, ids.device)]
    found = [weight.new_zeros(0, len(weight))]
    for start, stop in _groups(ascending.tolist(), max_chars - widest):
        words, length = spelled[start:stop], int(ascending[stop - 1])
        if length > max_chars - widest:
            found.append(_one_by_one(words, chars, kernels))
            continue
        # One window more than characters: the last sees only padding.
        windows = embedding(words[:, : length + widest], chars).flatten(1)
        windows = windows.unfold(1, weight.shape[1], chars.shape[1])  # (word, window, dim)
        found.append(linear(windows, weight).max(dim=1).values)
    return torch.cat(found)[to_device(order.argsort(), ids.device)]


def _one_by_one(
    ids: Int[Tensor, "word char"],
    chars: Float[Tensor, "byte dim"],
    kernels: Sequence[Float[Tensor, "_filter _window"]],
) -> Float[Tensor, "word filter"]:
    """Words so long that the widest filter has fewer windows than the others."""
    flat, dim = embedding(ids, chars).flatten(1), chars.shape[1]
    return torch.cat(
        [linear(flat.unfold(1, k.shape[1], dim), k).max(dim=1).values for k in kernels], dim=1
    )


def _groups(lengths: Sequence[int], longest: int) -> Iterator[tuple[int, int]]:
    """Split ascending lengths into ranges of similar length and bounded size."""
    start = 0
    while start < len(lengths):
        edges = (*(edge for edge in _EDGES if edge < longest), longest)
        edge = next((edge for edge in edges if edge >= lengths[start]), lengths[-1])
        stop = start + 1
        while stop < len(lengths) and lengths[stop] <= edge:
            if (stop - start) * edge >= _GROUP_CHARS:
                break
            stop += 1
        yield start, stop
        start = stop
