"""Cost of ELMo in training: an epoch without it, with cached layers, and with recomputed ones.

    python benchmarks/features.py task=ner
    python benchmarks/features.py task=sst5 data=files data.dir=~/sst --sizes 0.25 0.5 1

The third arm recomputes the layers of every batch, as AllenNLP does. All are measured in one run,
alternating by epoch, on the same batches; the ratio to the baseline is the result. --sizes repeats
this for several fractions of the training set: the cost must grow linearly.
"""

import argparse
import resource
import statistics
import time

import torch
from rich.console import Console
from rich.table import Table

from elmo_bench.config.compose import run_settings
from elmo_bench.config.settings import RunSettings
from elmo_bench.records.timer import StageTimer
from elmo_bench.runs.build import RunComponents, build_components

ARMS = ("baseline", "ELMo, cached", "ELMo, recomputed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("overrides", nargs="*", help="as for run.py")
    parser.add_argument("--epochs", type=int, default=3, help="of each arm; the median is reported")
    parser.add_argument(
        "--sizes", type=float, nargs="+", default=[1.0], help="fractions of the training set"
    )
    args = parser.parse_intermixed_args()
    table = Table(title="Seconds of a training epoch", title_justify="left")
    for column in ("training set", "features", *ARMS, "cached / baseline", "peak memory"):
        table.add_column(column, justify="right")
    for fraction in args.sizes:
        settings = run_settings([*args.overrides, f"data.train_fraction={fraction}"])
        table.add_row(*measure(settings, args.epochs))
    Console().print(table)


def measure(settings: RunSettings, epochs: int) -> list[str]:
    """One row of the table: the three arms at one size of the training set."""
    variants = (settings.for_baseline(), settings, settings.but(features="online"))
    timer = StageTimer()
    arms = [build_components(variant, timer) for variant in variants]
    seconds: list[list[float]] = [[] for _ in arms]
    for _ in range(epochs):
        for parts, measured in zip(arms, seconds, strict=True):
            measured.append(epoch_seconds(parts))
    medians = [statistics.median(measured) for measured in seconds]
    frozen = arms[1].frozen
    assert frozen is not None
    return [
        f"{len(arms[0].splits['train']):,}",
        f"{frozen.num_bytes / 1e6:,.0f} MB",
        *(f"{median:.2f}" for median in medians),
        f"{medians[1] / medians[0]:.2f}",
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB",
    ]


def epoch_seconds(parts: RunComponents) -> float:
    """One pass over the training set: reading, forward, backward, step."""
    module = parts.module.train()
    optimizer = module.new_optimizer(p for p in module.parameters() if p.requires_grad)
    start = time.perf_counter()
    for batch in parts.data.train_dataloader():
        optimizer.zero_grad()
        loss = module(batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 5.0)
        optimizer.step()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
