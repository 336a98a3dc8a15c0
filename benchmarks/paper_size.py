"""Pretraining at the paper's size for a few steps: memory, time, and bytes between processes.

    python benchmarks/paper_size.py                     # one process
    python benchmarks/paper_size.py --processes 2       # gloo on this machine

It runs `python pretrain.py bilm=original` on made-up text of 800,000 distinct words. Memory is the
peak that Linux reports for each process. Bytes are those that passed the loopback device between
two steps, in both directions together, divided by the number of processes.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.table import Table

WORDS, SENTENCE = 800_000, 25


def write_corpus(path: Path, num_words: int) -> None:
    """Every word once, between frequent ones, so that sampled targets are both."""
    draws = random.Random(1)
    words = [f"w{number:x}" for number in range(num_words)]
    draws.shuffle(words)
    frequent = words[:20_000]
    with open(path, "w") as file:
        for start in range(0, num_words, SENTENCE):
            line = words[start : start + SENTENCE]
            line += [frequent[int(draws.paretovariate(0.5)) % len(frequent)] for _ in line]
            draws.shuffle(line)
            file.write(" ".join(line) + "\n")


def command(folder: Path, processes: int, minutes: float, more: list[str]) -> list[str]:
    return [
        *(sys.executable, "pretrain.py", "bilm=original", "corpus=text"),
        f"corpus.path={folder / 'text.txt'}",
        f"corpus.heldout={folder / 'heldout.txt'}",
        "pretraining.vocabulary.min_count=1",
        f"pretraining.budget_minutes={minutes}",
        *("trainer.accelerator=cpu", "trainer.log_every_n_steps=1", "trainer.progress_bar=false"),
        *((f"trainer.devices={processes}", "trainer.strategy=ddp") if processes > 1 else ()),
        *(f"paths.{name}={folder / name}" for name in ("bilm", "cache", "outputs")),
        f"hydra.run.dir={folder / 'hydra'}",
        *more,
    ]


def loopback_bytes() -> int:
    """Bytes received on the loopback device since the machine started."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, counts = line.partition(":")
        if name.strip() == "lo":
            return int(counts.split()[0])
    return 0


def peak_gibibytes(process: int) -> dict[int, float]:
    """Peak memory so far of a process and its children that train."""
    found = {}
    children = Path(f"/proc/{process}/task/{process}/children")
    try:
        status = Path(f"/proc/{process}/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        found[process] = int(peak.split()[1]) / 2**20
        for child in children.read_text().split():
            found |= peak_gibibytes(int(child))
    except (FileNotFoundError, ProcessLookupError, StopIteration):
        pass  # it has just ended
    return found


def watch(process: subprocess.Popen[bytes], losses: Path) -> tuple[list[list[float]], list[float]]:
    """Time, loss, bytes and peak memory after each step; and each process's peak at the end."""
    steps: list[list[float]] = []
    peaks: dict[int, float] = {}
    while process.poll() is None:
        peaks |= peak_gibibytes(process.pid)
        lines = losses.read_text().splitlines()[1:] if losses.exists() else []
        if len(lines) > len(steps):
            loss, peak = float(lines[-1].split(",")[1]), max(peaks.values())
            steps.append([time.monotonic(), loss, loopback_bytes(), peak])
        time.sleep(0.02)
    return steps, sorted(peaks.values(), reverse=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=2, help="of training")
    parser.add_argument("--words", type=int, default=WORDS)
    parser.add_argument("overrides", nargs="*", help="of pretrain.py")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder / "text.txt", args.words)
        (folder / "heldout.txt").write_text("w1 w2 w3\n")
        run = command(folder, args.processes, args.minutes, args.overrides)
        process = subprocess.Popen(run, cwd=Path(__file__).parents[1])
        losses = folder / "outputs" / "pretraining" / "original" / "losses.csv"
        steps, peaks = watch(process, losses)
    if process.returncode:
        sys.exit(process.returncode)
    table = Table("step", "loss", "seconds", "GiB so far", "MB exchanged per process")
    for number, (last, step) in enumerate(pairwise(steps), start=2):
        megabytes = f"{(step[2] - last[2]) / args.processes / 1e6:,.0f}"
        shown = megabytes if args.processes > 1 else "-"
        seconds, peak = f"{step[0] - last[0]:.1f}", f"{step[3]:.2f}"
        table.add_row(str(number), f"{step[1]:.2f}", seconds, peak, shown)
    Console().print(table)
    shown = ", ".join(f"{peak:.2f} GiB" for peak in peaks[: args.processes])
    print(f"peak memory of the {args.processes} largest processes: {shown}")


if __name__ == "__main__":
    main()
