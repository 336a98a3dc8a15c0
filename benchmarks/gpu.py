"""Speed on a GPU, or on this CPU: extraction, pretraining, and an epoch of each task.

    python benchmarks/gpu.py                     # all, at the paper's size; send us the table
    python benchmarks/gpu.py --device cpu --small --tasks sst5

Extraction and pretraining run on made-up text, an epoch on the mini benchmark, with a biLM of the
same size with random weights. The first call of the extraction is not counted.
"""

import argparse
import json
import platform
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from elmo_bench.bilm.model import BiLm
from elmo_bench.config.compose import pretrain_settings, run_settings
from elmo_bench.devices import resolve_device, set_matmul_precision
from elmo_bench.pretraining.stage import pretrain
from elmo_bench.runs.stage import evaluate

TASKS = ("ner", "sst5", "snli", "squad", "srl", "coref")
SMALL = ("bilm.lstm.hidden_dim=64", "bilm.lstm.projection_dim=32")


def device_name(device: torch.device) -> str:
    """What the maker calls it."""
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return f"{device.type}, {platform.processor() or platform.machine()}"


def sentences(number: int, seed: int) -> list[list[str]]:
    """Sentences of 5 to 40 words of 1 to 12 letters."""
    draws = random.Random(seed)
    words = ["".join(draws.choices("etaoinshrdlu", k=draws.randint(1, 12))) for _ in range(20_000)]
    return [draws.choices(words, k=draws.randint(5, 40)) for _ in range(number)]


def seconds(function: Callable[[], object], device: torch.device) -> float:
    start = time.perf_counter()
    function()
    if device.type != "cpu":
        torch.get_device_module(device).synchronize()
    return time.perf_counter() - start


def extraction(device: torch.device, sizes: list[str], number: int) -> str:
    """Tokens per second of frozen layers, copied to CPU memory."""
    bilm = BiLm(pretrain_settings(["bilm=original", *sizes]).bilm.architecture()).to(device)
    bilm.embed(sentences(number // 4 + 1, seed=1))
    text = sentences(number, seed=2)
    taken = seconds(lambda: bilm.embed(text), device)
    return f"{sum(map(len, text)) / taken:,.0f} tokens/s"


def pretraining(accelerator: str, sizes: list[str], number: int, folder: Path) -> str:
    """Tokens per second of optimizer steps, each token counted once for both directions."""
    for name, size in (("text", number), ("held", 2)):
        lines = (" ".join(words) for words in sentences(size, seed=3))
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    overrides = [
        *("bilm=original", "corpus=text", f"corpus.path={folder / 'text.txt'}", *sizes),
        *(f"corpus.heldout={folder / 'held.txt'}", "pretraining.epochs=1"),
        *("pretraining.vocabulary.min_count=1", f"trainer.accelerator={accelerator}"),
        *("trainer.progress_bar=false", "pretraining.num_validations=1", "name=speed"),
        *(f"paths.{name}={folder / name}" for name in ("bilm", "cache", "outputs")),
    ]
    pretrain(pretrain_settings(overrides))
    done = json.loads((folder / "bilm" / "speed" / "training.json").read_text())
    return f"{done['tokens'] / done['seconds']:,.0f} tokens/s"


def epoch(task: str, accelerator: str, sizes: list[str], examples: int, folder: Path) -> str:
    """Seconds of features and of one epoch, as the record has them."""
    overrides = [
        *(f"task={task}", "bilm=original", "bilm.weights=random", *sizes),
        *(f"data.train={examples}", f"data.dev={examples // 4}", f"data.test={examples // 4}"),
        *("task.training.max_epochs=1", f"trainer.accelerator={accelerator}"),
        *("trainer.progress_bar=false", "baseline=skip"),
        *(f"paths.{name}={folder / name}" for name in ("results", "bilm", "cache", "outputs")),
    ]
    record = evaluate(run_settings(overrides))
    return f"{record.seconds['features']:.1f} s features, {record.seconds['training']:.1f} s epoch"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    parser.add_argument("--small", action="store_true", help="a small biLM and little data")
    parser.add_argument("--tasks", nargs="*", choices=TASKS, default=TASKS)
    args = parser.parse_args()
    device = resolve_device(args.device)
    set_matmul_precision(None, device)
    sizes = list(SMALL) if args.small else []
    more = ["pretraining.loss.num_negatives=64"] if args.small else []
    scale = 1 if args.small else 20
    table = Table("", "speed", title=f"{device_name(device)}, torch {torch.__version__}")
    table.add_row("extraction", extraction(device, sizes, 200 * scale))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        speed = pretraining(args.device, [*sizes, *more], 500 * scale, folder)
        table.add_row("pretraining", speed)
        for task in args.tasks:
            table.add_row(task, epoch(task, args.device, sizes, 50 * scale, folder))
    Console().print(table)


if __name__ == "__main__":
    main()
