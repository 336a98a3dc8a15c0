"""The frozen layers of a biLM for a run: from the disk cache or computed for every batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from jaxtyping import Float
from torch import Tensor

from elmo_bench.bilm.model import BiLm
from elmo_bench.data.example import Segment
from elmo_bench.features.cache import CacheInfo, FeatureCache
from elmo_bench.features.mix import layer_numbers, layer_rms

SCALE_SEGMENTS = 1000  # enough to measure the size of the layers


@dataclass(frozen=True)
class FrozenLayers:
    """Source of the layers of batches; holds the biLM only if they are computed online."""

    padded: Callable[
        [list[Segment]], Float[Tensor, "layer segment time dim"]
    ]  # only the layers needed
    fingerprint: str
    num_layers: int  # of the biLM
    dim: int
    scale: list[float] | None  # size of each layer, for the mix
    num_bytes: int  # on disk

    def shape(self) -> dict[str, Any]:
        """What is needed to rebuild a mix, as JSON-serializable values."""
        return {
            "fingerprint": self.fingerprint,
            "num_layers": self.num_layers,
            "dim": self.dim,
            "scale": self.scale,
        }


def freeze(
    bilm: BiLm,
    segments: Sequence[Segment],
    train: Sequence[Segment],
    *,
    layers: str,
    scale: Literal["rms"] | float | list[float] | None,
    features: str,
    dtype: str,
    cache: Path,
) -> FrozenLayers:
    """Prepare the layers of segments for training.

    Args:
        bilm: The biLM. With features=cache nothing refers to it afterwards.
        segments: All segments that will be needed.
        train: The segments of the training split, on which layer sizes are measured.
        layers: Which layers the mix uses; only these are read.
        scale: "rms" measures the size of each layer; a number sets it for all, a list for each.
        features: "cache" or "online".
        dtype: Dtype of the cache.
        cache: The folder of all caches.
    """
    numbers = layer_numbers(layers, bilm.num_layers)
    embed = partial(bilm.embed, state="reset")
    fingerprint, num_layers, dim = bilm.fingerprint(), bilm.num_layers, bilm.output_dim
    sizes: list[float] | None
    match scale:
        case "rms":
            sizes = layer_rms(embed(list(train[:SCALE_SEGMENTS])))
        case int() | float():
            sizes = [float(scale)] * num_layers
        case _:
            sizes = scale
    if features == "online":
        padded = partial(pad_layers, embed, numbers)
        return FrozenLayers(padded, fingerprint, num_layers, dim, sizes, num_bytes=0)
    store = FeatureCache(cache, CacheInfo(fingerprint, dtype, num_layers, dim))
    store.fill(segments, numbers, embed)
    read = partial(store.read_batch, layers=numbers)
    return FrozenLayers(read, fingerprint, num_layers, dim, sizes, store.num_bytes(segments))


def pad_layers(
    embed: Callable[[list[Segment]], list[Tensor]], layers: Sequence[int], segments: list[Segment]
) -> Float[Tensor, "layer segment time dim"]:
    """Compute some layers of a few segments, padded with zeros."""
    stacks = embed(segments)
    picked = list(layers)
    time = max(map(len, segments))
    batch = stacks[0].new_zeros(len(picked), len(stacks), time, stacks[0].shape[2])
    for row, stack in enumerate(stacks):
        batch[:, row, : stack.shape[1]] = stack[picked]
    return batch
