"""The frozen layers of an encoder for a run: from the disk cache or computed for every batch."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from jaxtyping import Float
from torch import Tensor

from elmo_bench.data.example import Segment, Split
from elmo_bench.errors import UserError
from elmo_bench.features.cache import CacheInfo, FeatureCache, chain_keys
from elmo_bench.features.encoder import Encoder, StatefulEncoder
from elmo_bench.features.mix import layer_numbers, layer_rms

SCALE_SEGMENTS = 1000  # enough to measure the size of the layers

State = Literal["reset", "carry"]
Padded = Callable[[list[Segment]], Float[Tensor, "layer segment time dim"]]


@dataclass(frozen=True)
class FrozenLayers:
    """Source of the layers of batches; holds the encoder only if they are computed online."""

    padded: Mapping[Split, Padded]  # only the layers needed
    fingerprint: str
    num_layers: int  # of the encoder
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
    encoder: Encoder,
    splits: Mapping[Split, Sequence[Segment]],
    *,
    layers: str,
    scale: Literal["rms"] | float | list[float] | None,
    state: State,
    features: str,
    dtype: str,
    cache: Path,
) -> FrozenLayers:
    """Prepare the layers of segments for training.

    Args:
        encoder: With features=cache nothing refers to it afterwards.
        splits: The distinct segments of each split, in order; layer sizes are measured on train.
        layers: Which layers the mix uses; only these are read.
        scale: "rms" measures the size of each layer; a number sets it for all, a list for each.
        state: "reset" reads each segment by itself; "carry" each split as one stream.
        features: "cache" or "online", which reads a batch of one split without the others.
        dtype: Dtype of the cache.
        cache: The folder of all caches.
    """
    numbers = layer_numbers(layers, encoder.num_layers)
    fingerprint, num_layers, dim = encoder.fingerprint(), encoder.num_layers, encoder.output_dim
    embed = embed_with(encoder, state)
    sizes: list[float] | None
    match scale:
        case "rms":
            sizes = layer_rms(embed(list(splits["train"][:SCALE_SEGMENTS])))
        case int() | float():
            sizes = [float(scale)] * num_layers
        case _:
            sizes = scale
    if features == "online":
        padded = dict.fromkeys(splits, partial(pad_layers, embed, numbers))
        return FrozenLayers(padded, fingerprint, num_layers, dim, sizes, num_bytes=0)
    info = CacheInfo(fingerprint, dtype, num_layers, dim)
    stores: Mapping[Split, FeatureCache]
    if state == "carry":
        keys = {split: chain_keys(some) for split, some in splits.items()}
        stores = {split: FeatureCache(cache, info, keys[split].__getitem__) for split in splits}
        for split, some in splits.items():
            stores[split].fill_in_order(some, numbers, embed)
        num_bytes = sum(stores[split].num_bytes(some) for split, some in splits.items())
    else:
        segments = dict.fromkeys(segment for some in splits.values() for segment in some)
        store = FeatureCache(cache, info)
        store.fill(segments, numbers, embed)
        stores, num_bytes = dict.fromkeys(splits, store), store.num_bytes(segments)
    read = {split: partial(store.read_batch, layers=numbers) for split, store in stores.items()}
    return FrozenLayers(read, fingerprint, num_layers, dim, sizes, num_bytes)


def embed_with(
    encoder: Encoder, state: State
) -> Callable[[Sequence[Segment]], Iterable[Float[Tensor, "layer _time dim"]]]:
    """How an encoder reads segments; "carry" reads those of one call as one stream."""
    if state == "reset":
        return encoder.embed
    if not isinstance(encoder, StatefulEncoder):
        raise UserError(f"bilm.state={state}: {encoder.name} has no state to carry; use reset")
    return encoder.stream


def pad_layers(
    embed: Callable[[Sequence[Segment]], Iterable[Tensor]],
    layers: Sequence[int],
    segments: list[Segment],
) -> Float[Tensor, "layer segment time dim"]:
    """Compute some layers of a few segments, padded with zeros."""
    stacks = list(embed(segments))
    picked = list(layers)
    time = max(map(len, segments))
    batch = stacks[0].new_zeros(len(picked), len(stacks), time, stacks[0].shape[2])
    for row, stack in enumerate(stacks):
        batch[:, row, : stack.shape[1]] = stack[picked]
    return batch
