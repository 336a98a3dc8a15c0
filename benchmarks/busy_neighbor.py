"""How much a busy neighbor slows a pretraining step down, for both ways of waiting for threads.

    python -m benchmarks.busy_neighbor

Each way is measured alone and beside processes that keep as many cores busy. The programs of
elmo_bench wait passively (elmo_bench/__init__.py).
"""

import argparse
import os
import re
import subprocess
import sys

from rich.console import Console
from rich.table import Table

BUSY = [sys.executable, "-c", "while True: pass"]


def tokens_per_second(policy: str, size: str, batches: int) -> float:
    """Of our training with the adaptive softmax, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.pretraining", "--sizes", size]
    command += ["--batches", str(batches), "--methods", "ours, adaptive"]
    environment = {**os.environ, "OMP_WAIT_POLICY": policy, "COLUMNS": "100"}
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = re.search(r"ours, adaptive\D+([\d,]+)", shown.stdout)
    assert found is not None, shown.stdout
    return float(found.group(1).replace(",", ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="256/128")
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--neighbors", type=int, default=1, help="busy processes")
    args = parser.parse_args()
    table = Table("threads wait", "alone, tokens/s", "beside, tokens/s", "ratio")
    for policy in ("active", "passive"):
        alone = tokens_per_second(policy, args.size, args.batches)
        neighbors = [subprocess.Popen(BUSY) for _ in range(args.neighbors)]
        try:
            beside = tokens_per_second(policy, args.size, args.batches)
        finally:
            for neighbor in neighbors:
                neighbor.kill()
        table.add_row(policy, f"{alone:,.0f}", f"{beside:,.0f}", f"{beside / alone:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
