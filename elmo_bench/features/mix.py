"""The ELMo layer: one vector per token from the frozen layers of a biLM."""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from elmo_bench.errors import UserError


def layer_numbers(layers: str, num_layers: int) -> tuple[int, ...]:
    """Which layers of a biLM a mix reads; layer 0 is the token layer, 1 the first LSTM layer."""
    match layers:
        case "all":
            return tuple(range(num_layers))
        case "last":
            return (num_layers - 1,)
        case "first" if num_layers > 1:
            return (1,)
        case "token":
            return (0,)
    raise UserError(
        f"elmo.layers is {layers!r} with a biLM of {num_layers} layers; "
        f"it must be all, last, first (with at least 2 layers) or token."
    )


class ElmoMix(nn.Module):
    """gamma * sum_j softmax(w)_j h_j, or gamma * h_j of a single layer.

    Untrained, it is the mean of the layers. A model has one mix for each placement of ELMo vectors.
    A mix is given only the layers it needs, so the others are never read from disk.

    Args:
        num_layers: Number of layers of the biLM, the token layer included.
        layers: Which of them are mixed: all, last, first or token.
        scale: A number for each layer of the biLM, by which it is divided before mixing; for
            example its root mean square, since layers differ in size.
        layer_norm: `batch` uses one mean and variance per layer over all tokens and features
            of the batch, as bilm-tf does; `token` one per layer and token. A single layer is
            never normalized, as in bilm-tf.
        dropout: Applied to the mixed vector.
        l2: Strength (lambda) of the L2 penalty on w, which pulls the weights toward equality.
        gamma: Whether gamma is learned; otherwise it stays 1, an ablation of the paper's.
    """

    def __init__(
        self,
        num_layers: int,
        layers: str = "all",
        scale: Sequence[float] | None = None,
        layer_norm: str | None = None,
        dropout: float = 0.0,
        l2: float = 0.0,
        gamma: bool = True,
    ) -> None:
        super().__init__()
        self.numbers = layer_numbers(layers, num_layers)
        self.weights = nn.Parameter(torch.zeros(num_layers)) if layers == "all" else None
        self.gamma = nn.Parameter(torch.ones(()), requires_grad=gamma)
        if layer_norm not in (None, "batch", "token"):
            raise UserError(f"elmo.layer_norm is {layer_norm!r}; it must be null, batch or token.")
        self.layer_norm = layer_norm if layers == "all" else None
        self.dropout = nn.Dropout(dropout)
        self.l2 = l2
        if scale is not None and (len(scale) != num_layers or min(scale) <= 0):
            raise UserError(
                f"elmo.scale is {list(scale)}, but the biLM has {num_layers} layers "
                f"and each needs one positive number."
            )
        size = torch.ones(len(self.numbers))
        if scale is not None:
            size = torch.tensor([scale[layer] for layer in self.numbers])
        self.register_buffer("size", size)
        self.size: Tensor

    def forward(
        self,
        layers: Float[Tensor, "layer *position dim"],
        mask: Bool[Tensor, "*position"] | None = None,
    ) -> Float[Tensor, "*position dim"]:
        """Mix the layers of every token; `mask` keeps padding out of the batch norm."""
        if len(layers) != len(self.numbers):
            raise UserError(
                f"ElmoMix takes the {len(self.numbers)} layers {self.numbers} of the biLM, but was "
                f"given {len(layers)}. Is the batch from another biLM or for another mix?"
            )
        if self.layer_norm == "token":
            layers = _normalize(layers, *_moments(layers, axes=(-1,)))
        elif self.layer_norm == "batch":
            tokens = layers.flatten(1, -2) if mask is None else layers[:, mask]
            mean, variance = _moments(tokens, axes=(1, 2))  # (layer, 1, 1)
            shape = (-1,) + (1,) * (layers.dim() - 1)
            layers = _normalize(layers, mean.reshape(shape), variance.reshape(shape))
        # A single product over the layer axis; the fixed scale is folded into the factors.
        factors = self.gamma * self.shares() / self.size
        return self.dropout(torch.einsum("l,l...->...", factors, layers))

    def shares(self) -> Float[Tensor, "layer"]:
        """The normalized weights, which sum to 1."""
        if self.weights is None:
            return torch.ones_like(self.size)
        return self.weights.softmax(dim=0)

    def penalty(self) -> Float[Tensor, ""]:
        """The L2 penalty on the raw weights; gamma is not penalized."""
        if self.weights is None:
            return torch.zeros_like(self.gamma)
        return self.l2 * self.weights.square().sum()

    def summary(self) -> dict[str, list[float] | float]:
        return {"weights": self.shares().tolist(), "gamma": self.gamma.item()}


def _moments(values: Tensor, axes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    variance, mean = torch.var_mean(values, dim=axes, correction=0, keepdim=True)
    return mean, variance


def _normalize(layers: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
    # The epsilon is that of bilm-tf; there are no learned factors.
    return (layers - mean) * (variance + 1e-12).rsqrt()


def layer_rms(stacks: Iterable[Tensor]) -> list[float]:
    """The root mean square of each layer over many segments (layer, time, dim), for `scale`."""
    squares: Tensor | None = None
    count = 0
    for stack in stacks:
        total = stack.double().square().sum(dim=(1, 2))
        squares = total if squares is None else squares + total
        count += stack[0].numel()
    if squares is None:
        raise UserError("Cannot measure the size of the layers without segments.")
    return (squares / count).sqrt().tolist()
