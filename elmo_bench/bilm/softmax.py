"""The softmax layer shared by both directions: full, sampled or adaptive.

Each has `loss` for training and `nll`, the exact negative log-likelihood, for perplexity. For the
sampled softmax the two differ: its loss does not measure a model's quality.
"""

from collections.abc import Mapping
from math import log, sqrt

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding, linear, log_softmax

from elmo_bench.bilm.adaptive_softmax import AdaptiveSoftmax
from elmo_bench.bilm.softmax_rows import SoftmaxRows
from elmo_bench.config.pretraining_settings import LossSettings
from elmo_bench.devices import to_device
from elmo_bench.errors import UserError
from elmo_bench.kernels.dense import cross_entropy

# Logits held in memory at once in evaluation, about 64 MB.
_MAX_LOGITS = 1 << 24


class FullSoftmax(nn.Module):
    """A softmax over the whole vocabulary for every token."""

    def __init__(self, dim: int, num_words: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_words, dim).normal_(std=1 / sqrt(dim)))
        self.bias = nn.Parameter(torch.zeros(num_words))

    @property
    def num_words(self) -> int:
        """Size of the vocabulary."""
        return len(self.weight)

    def loss(
        self,
        hidden: Float[Tensor, "direction token dim"],
        targets: Int[Tensor, "direction token"],
        seed: int,
    ) -> Float[Tensor, " direction"]:
        """Mean loss of each direction."""
        losses = cross_entropy(hidden.flatten(0, 1), self.weight, self.bias, targets.flatten())
        return losses.view(targets.shape).mean(dim=1)

    def nll(
        self, hidden: Float[Tensor, "token dim"], targets: Int[Tensor, " token"]
    ) -> Float[Tensor, " token"]:
        """Negative log-likelihood of each target over all words, computed in bounded chunks."""
        size = max(1, _MAX_LOGITS // len(self.weight))
        parts = zip(hidden.split(size), targets.split(size), strict=True)
        losses = [cross_entropy(part, self.weight, self.bias, target) for part, target in parts]
        return torch.cat(losses) if losses else hidden.new_zeros(0)

    def log_probs(self, hidden: Float[Tensor, "token dim"]) -> Float[Tensor, "token word"]:
        """Log-probability of every word."""
        return log_softmax(linear(hidden, self.weight, self.bias), dim=1)


class SampledSoftmax(FullSoftmax):
    """A softmax trained on negatives shared by all tokens of a direction, as in bilm-tf.

    Negatives are drawn log-uniformly over the ranks of the vocabulary, without replacement. Logits
    are corrected by the log of a word's expected count, and a negative that equals a token's
    target is masked for that token.

    Args:
        num_negatives: Words drawn for each direction.
    """

    def __init__(self, dim: int, num_words: int, num_negatives: int) -> None:
        super().__init__(dim, num_words)
        if num_negatives >= num_words:
            raise UserError(
                f"pretraining.loss.num_negatives={num_negatives} must be less than the vocabulary "
                f"size of {num_words}; for a small vocabulary set pretraining.loss.kind=full."
            )
        self.num_negatives = num_negatives

    def loss(
        self,
        hidden: Float[Tensor, "direction token dim"],
        targets: Int[Tensor, "direction token"],
        seed: int,
        rows: SoftmaxRows | None = None,
    ) -> Float[Tensor, " direction"]:
        """Mean loss of each direction; each draws its own negatives, determined by `seed` alone.

        With `rows`, the gradient goes to these instead of the whole weights.
        """
        draws = np.random.default_rng(seed)
        drawn = [draw_negatives(self.num_words, self.num_negatives, draws) for _ in targets]
        negatives = to_device(np.stack([words for words, _ in drawn]), targets.device)
        tries = to_device(
            np.array([[tried] for _, tried in drawn], dtype=np.float32), targets.device
        )
        weight, bias, at_negatives, at_targets = self.weight, self.bias, negatives, targets
        if rows is not None:
            at_negatives, at_targets = rows.take((self.weight, self.bias), negatives, targets)
            weight, bias = rows.weight, rows.bias
        offset = embedding(at_targets, bias[:, None]).squeeze(2)
        offset = offset - log_expected_count(targets, self.num_words, tries)
        positive = (hidden * embedding(at_targets, weight)).sum(dim=2) + offset
        offset = embedding(at_negatives, bias[:, None]).squeeze(2)
        offset = offset - log_expected_count(negatives, self.num_words, tries)
        others = hidden @ embedding(at_negatives, weight).transpose(1, 2) + offset[:, None]
        others = others.masked_fill_(targets[:, :, None] == negatives[:, None], float("-inf"))
        return (torch.logaddexp(positive, others.logsumexp(dim=2)) - positive).mean(dim=1)


Softmax = FullSoftmax | AdaptiveSoftmax  # SampledSoftmax is a FullSoftmax with another loss


def build_softmax(settings: LossSettings, dim: int, num_words: int) -> Softmax:
    """Build the softmax that settings describe."""
    match settings.kind:
        case "full":
            return FullSoftmax(dim, num_words)
        case "sampled":
            return SampledSoftmax(dim, num_words, settings.num_negatives)
        case "adaptive":
            return AdaptiveSoftmax(dim, num_words, settings.cutoffs, settings.div_value)


def as_trained_with(settings: LossSettings, softmax: Softmax) -> Softmax:
    """Prepare a trained softmax for more training, with sampling if the settings ask for it."""
    if settings.kind != "sampled" or not isinstance(softmax, FullSoftmax):
        return softmax.train()
    num_words, dim = softmax.weight.shape
    sampled = SampledSoftmax(dim, num_words, settings.num_negatives)
    sampled.load_state_dict(softmax.state_dict())
    return sampled


def softmax_from(tensors: Mapping[str, Tensor]) -> Softmax:
    """Rebuild a trained softmax, for evaluation, from its state dict."""
    softmax: Softmax
    if "head.weight" in tensors:
        softmax = AdaptiveSoftmax.like(tensors)
    else:
        num_words, dim = tensors["weight"].shape
        softmax = FullSoftmax(dim, num_words)
    softmax.load_state_dict(dict(tensors))
    return softmax.eval()


def draw_negatives(num_words: int, size: int, draws: np.random.Generator) -> tuple[np.ndarray, int]:
    """Draw distinct words log-uniformly over their ranks; return them and the number of tries."""
    drawn = np.empty(0, np.int64)
    while True:
        more = np.exp(draws.random(2 * size) * log(num_words + 1)).astype(np.int64) - 1
        drawn = np.concatenate([drawn, np.minimum(more, num_words - 1)])
        words, first = np.unique(drawn, return_index=True)
        if len(words) >= size:
            order = np.argsort(first)[:size]
            return words[order], int(first[order[-1]]) + 1


def log_expected_count(
    words: Int[Tensor, "*word"], num_words: int, tries: Float[Tensor, "*many 1"] | int
) -> Float[Tensor, "*word"]:
    """Log of the probability that `tries` log-uniform draws include a word."""
    # In this form float32 is exact enough for any rank; some devices have no float64.
    probability = torch.log1p(1 / (words + 1)) / log(num_words + 1)
    return torch.log(-torch.expm1(tries * torch.log1p(-probability)))
