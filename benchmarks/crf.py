"""Speed of training steps and decoding of our CRF and pytorch-crf, with the same scores.

Run: OMP_NUM_THREADS=1 python -m benchmarks.crf
"""

import argparse
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torchcrf import CRF

from elmo_bench.data.tags import Transitions
from elmo_bench.nn.crf import Crf


def seconds(steps: list[Callable[[], object]], repeats: int) -> list[float]:
    """The shortest time of each step; steps alternate, so that other load affects all of them."""
    best = [float("inf")] * len(steps)
    for _ in range(repeats):
        for number, step in enumerate(steps):
            start = time.perf_counter()
            step()
            best[number] = min(best[number], time.perf_counter() - start)
    return best


def same_pair(num_tags: int) -> tuple[Crf, CRF]:
    """Our CRF and pytorch-crf's, with the same scores and no forbidden transitions."""
    row = [True] * num_tags
    ours, theirs = Crf(Transitions(row, [row] * num_tags, row)), CRF(num_tags, batch_first=True)
    with torch.no_grad():
        ours.start.copy_(theirs.start_transitions)
        ours.between.copy_(theirs.transitions)
        ours.end.copy_(theirs.end_transitions)
    return ours, theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tags", type=int, default=60)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--length", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=20)
    args = parser.parse_args()

    torch.manual_seed(1)
    ours, theirs = same_pair(args.tags)
    emissions = torch.randn(args.batch, args.length, args.tags, requires_grad=True)
    tags = torch.randint(args.tags, (args.batch, args.length))
    lengths = torch.randint(args.length // 2, args.length + 1, (args.batch, 1))
    lengths[0] = args.length
    mask = torch.arange(args.length) < lengths
    torch.testing.assert_close(ours(emissions, tags, mask).sum(), theirs(emissions, tags, mask))
    assert ours.decode(emissions, mask) == theirs.decode(emissions, mask)

    def step(likelihood: Tensor) -> None:
        emissions.grad = None
        (-likelihood).backward()

    table = Table(
        "",
        "elmo_bench, ms",
        "pytorch-crf, ms",
        "times faster",
        title=f"{args.tags} tags, batch {args.batch}, length {args.length}, "
        f"{torch.get_num_threads()} thread(s)",
    )
    for name, calls in {
        "training step": [
            lambda: step(ours(emissions, tags, mask).sum()),
            lambda: step(theirs(emissions, tags, mask)),
        ],
        "decoding": [lambda: ours.decode(emissions, mask), lambda: theirs.decode(emissions, mask)],
    }.items():
        mine, other = seconds(calls, args.repeats)
        table.add_row(name, f"{mine * 1e3:.1f}", f"{other * 1e3:.1f}", f"{other / mine:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
