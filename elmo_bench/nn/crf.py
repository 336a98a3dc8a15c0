"""A linear-chain conditional random field, exact in training and in decoding.

Segments are padded on the right and have at least one token.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from elmo_bench.data.tags import Transitions
from elmo_bench.devices import widest_float

# Used instead of minus infinity: no sum of scores comes near it, and gradients stay finite.
FORBIDDEN = -1e30
# If scores differ by no more than this, in nats, their exponentials stay well within the type.
SAFE_RANGE = {torch.float64: 100.0, torch.float32: 40.0}


class ChainScores(NamedTuple):
    """Scores of the first tag, of each transition (from, to) and of the last tag."""

    start: Float[Tensor, "tag"]
    between: Float[Tensor, "tag tag"]
    end: Float[Tensor, "tag"]


def rule_scores(allowed: Transitions) -> ChainScores:
    """0 for what a tagging scheme allows, FORBIDDEN for the rest."""
    return ChainScores(*(torch.tensor(rule).logical_not() * FORBIDDEN for rule in allowed))


class Crf(nn.Module):
    """p(tags) = exp(score of tags) / sum of exp(score) over the sequences that the scheme allows.

    Like decoding, the sum excludes forbidden sequences, so the model spends no probability on what
    it can never predict. (AllenNLP's tagger constrains only decoding.)

    Args:
        allowed: What the tagging scheme allows.
        boundaries: Whether the first and the last tag have learned scores, like transitions.
    """

    start: Tensor
    between: Tensor
    end: Tensor
    start_rule: Tensor
    between_rule: Tensor
    end_rule: Tensor

    def __init__(self, allowed: Transitions, boundaries: bool = True) -> None:
        super().__init__()
        num_tags = len(allowed.start)
        learned = torch.zeros(num_tags), torch.zeros(num_tags, num_tags), torch.zeros(num_tags)
        for name, scores in ChainScores(*learned)._asdict().items():
            if boundaries or name == "between":
                self.register_parameter(name, nn.Parameter(scores))
            else:
                self.register_buffer(name, scores, persistent=False)
        for name, rule in rule_scores(allowed)._asdict().items():
            self.register_buffer(f"{name}_rule", rule, persistent=False)

    def forward(
        self,
        emissions: Float[Tensor, "segment time tag"],
        tags: Int[Tensor, "segment time"],
        mask: Bool[Tensor, "segment time"],
    ) -> Float[Tensor, "segment"]:
        """The log-likelihood of each segment's tags."""
        scores = self.scores()
        partition = log_partition(emissions, mask, scores)
        return sequence_score(emissions, tags, mask, scores) - partition

    def decode(
        self, emissions: Float[Tensor, "segment time tag"], mask: Bool[Tensor, "segment time"]
    ) -> list[list[int]]:
        """The best allowed tags of each segment."""
        return viterbi(emissions, mask, self.scores())

    def scores(self) -> ChainScores:
        return ChainScores(
            self.start + self.start_rule, self.between + self.between_rule, self.end + self.end_rule
        )


def sequence_score(
    emissions: Float[Tensor, "segment time tag"],
    tags: Int[Tensor, "segment time"],
    mask: Bool[Tensor, "segment time"],
    scores: ChainScores,
) -> Float[Tensor, "segment"]:
    """The sum of the scores along given tags."""
    steps = emissions.gather(2, tags.unsqueeze(2)).squeeze(2)
    moves = scores.between[tags[:, :-1], tags[:, 1:]]
    last = tags.gather(1, mask.sum(dim=1, keepdim=True) - 1).squeeze(1)
    inside = torch.where(mask, steps, 0.0).sum(dim=1) + torch.where(mask[:, 1:], moves, 0.0).sum(
        dim=1
    )
    return scores.start[tags[:, 0]] + inside + scores.end[last]


def log_partition(
    emissions: Float[Tensor, "segment time tag"],
    mask: Bool[Tensor, "segment time"],
    scores: ChainScores,
) -> Float[Tensor, "segment"]:
    """The logarithm of the sum of exp(score) over all tag sequences."""
    dtype = emissions.dtype
    wide = widest_float(mask.device)
    emissions = torch.where(mask.unsqueeze(2), emissions, 0.0).to(wide)
    exact = ChainScores(*(score.to(wide) for score in scores))
    with torch.no_grad():
        learned = exact.between[exact.between > FORBIDDEN / 2]
        spread = (emissions.amax(2) - emissions.amin(2)).max() + (learned.max() - learned.min())
    if spread > SAFE_RANGE[wide]:
        return _sum_logarithms(emissions, mask, exact).to(dtype)
    partition: Tensor = _SumProducts.apply(emissions, mask, *exact)
    return partition.to(dtype)


class _SumProducts(Function):
    """The forward algorithm on exponentials, with its gradient by the backward algorithm.

    A step is one matrix product; the sums over paths are scaled to 1 at every step. In the
    gradient, `rests` are the sums over what may follow a tag, scaled so that path * rest is the
    probability of the tag times the incoming gradient.
    """

    @staticmethod
    def forward(ctx: Any, emissions: Tensor, mask: Tensor, *scores: Tensor) -> Tensor:
        start, between, end = (score.exp() for score in scores)
        peaks = emissions.amax(dim=2)
        factors = (emissions - peaks.unsqueeze(2)).exp_().transpose(0, 1).contiguous()
        paths = torch.empty_like(factors)  # (time, segment, tag)
        totals = factors.new_empty(*factors.shape[:2], 1)
        before = None
        # Past its end a segment continues with factors of 1, which has no effect.
        for path, factor, total in zip(paths, factors, totals, strict=True):
            if before is None:
                torch.mul(start, factor, out=path)
            else:
                torch.mm(before, between, out=path).mul_(factor)
            torch.sum(path, dim=1, keepdim=True, out=total)
            before = path.div_(total)
        last = mask.sum(dim=1) - 1
        final = paths[last, torch.arange(len(last), device=last.device)]
        ctx.save_for_backward(between, end, factors, paths, totals, last, final)
        logs = torch.where(mask, totals.squeeze(2).T.log() + peaks, 0.0)
        return logs.sum(dim=1) + (final @ end).log()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        between, end, factors, paths, totals, last, final = ctx.saved_tensors
        closing = end * (grad / (final @ end)).unsqueeze(1)  # (segment, tag)
        times = torch.arange(len(paths), device=last.device)
        rests = closing * (times.unsqueeze(1) == last).unsqueeze(2)
        moves = factors / totals
        transposed = between.T.contiguous()
        for time in range(len(paths) - 1, 0, -1):
            moves[time].mul_(rests[time])
            rests[time - 1].addmm_(moves[time], transposed)
        shares = paths * rests
        pairs = paths[:-1].flatten(0, 1).T @ moves[1:].flatten(0, 1)
        ends = (final * closing).sum(dim=0)
        return shares.transpose(0, 1), None, shares[0].sum(dim=0), between * pairs, ends


def _sum_logarithms(emissions: Tensor, mask: Tensor, scores: ChainScores) -> Tensor:
    """The forward algorithm on logarithms: slower, but safe for scores of any size."""
    paths = scores.start + emissions[:, 0]
    for time in range(1, emissions.shape[1]):
        moved = torch.logsumexp(paths.unsqueeze(2) + scores.between, dim=1) + emissions[:, time]
        paths = torch.where(mask[:, time, None], moved, paths)
    return torch.logsumexp(paths + scores.end, dim=1)


@torch.no_grad()
def viterbi(
    emissions: Float[Tensor, "segment time tag"],
    mask: Bool[Tensor, "segment time"],
    scores: ChainScores,
) -> list[list[int]]:
    """The highest-scoring tags of each segment, without padding."""
    best = scores.start + emissions[:, 0]  # (segment, tag)
    stay = torch.arange(best.shape[1], device=best.device).expand_as(best)
    origins = []
    for time in range(1, emissions.shape[1]):
        moved, origin = (best.unsqueeze(1) + scores.between.T).max(dim=2)
        inside = mask[:, time, None]
        best = torch.where(inside, moved + emissions[:, time], best)
        origins.append(torch.where(inside, origin, stay))
    tag = (best + scores.end).argmax(dim=1, keepdim=True)
    path = [tag]
    for origin in reversed(origins):
        path.append(tag := origin.gather(1, tag))
    tags = torch.cat(path[::-1], dim=1).tolist()
    return [row[:length] for row, length in zip(tags, mask.sum(dim=1).tolist(), strict=True)]
