"""What features and analyses ask of a frozen encoder.

Nothing above this package knows whether layers are those of a biLM or of a transformer.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor


@runtime_checkable
class Encoder(Protocol):
    """A frozen model that gives each word of a sentence one vector per layer."""

    @property
    def name(self) -> str:
        """What tables call it."""

    @property
    def num_layers(self) -> int:
        """Number of layers that `embed` returns; layer 0 comes before any context."""

    @property
    def output_dim(self) -> int:
        """Size of a vector, the same at every layer."""

    def to(self, device: torch.device) -> "Encoder":
        """Move it to the device that computes."""

    def fingerprint(self) -> str:
        """Hash of everything that determines the layers."""

    def embed(
        self, sentences: Sequence[Sequence[str]], *, batch_size: int = 64
    ) -> list[Float[Tensor, "layer _time dim"]]:
        """Float32 layers of each sentence, which is read by itself, in CPU memory.

        Every word gets a vector, whatever it consists of. `batch_size` changes only the speed.
        """


@runtime_checkable
class StatefulEncoder(Encoder, Protocol):
    """An encoder that can carry its state from each sentence to the next."""

    def stream(
        self, sentences: Iterable[Sequence[str]]
    ) -> Iterator[Float[Tensor, "layer _time dim"]]:
        """Layers of the sentences of one stream, which starts from the zero state."""
