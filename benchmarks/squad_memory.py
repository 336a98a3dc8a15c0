"""Time and peak memory of SQuAD steps at the paper's size, by the length of the paragraphs.

Every step runs in a separate process, on a batch as large as `max_padded_tokens` allows when no
two questions share a paragraph.

Run: OMP_NUM_THREADS=1 python -m benchmarks.squad_memory
"""

import argparse
import random
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import torch
from rich.console import Console
from rich.table import Table

from elmo_bench.config.compose import task_settings
from elmo_bench.config.locating import build_task
from elmo_bench.data.example import Example, distinct_segments
from elmo_bench.features.mix import ElmoMix
from elmo_bench.nn.word_embedding import random_words
from elmo_bench.runs.datamodule import LengthBatches
from elmo_bench.task import Batch, collate
from elmo_bench.tasks.squad.data import SquadTarget

LAYERS, ELMO_DIM, WORD_DIM, QUESTION = 3, 1024, 300, 12


def question(number: int, num_tokens: int, generator: random.Random) -> Example:
    """A question about a paragraph of random words."""
    words = tuple(f"word{generator.randint(0, 5000)}" for _ in range(num_tokens + QUESTION))
    offsets = tuple((start, start + 1) for start in range(num_tokens))
    target = SquadTarget("-" * num_tokens, offsets, ("-",), ((0, 0),))
    return Example(str(number), (words[:num_tokens], words[num_tokens:]), target)


def largest_batch(num_tokens: int) -> Batch:
    """As many questions as the batch size and `max_padded_tokens` allow, with frozen layers."""
    settings, generator = task_settings("squad").training, random.Random(1)
    examples = [question(n, num_tokens, generator) for n in range(settings.batch_size)]
    lengths = [[len(segment) for segment in example.segments] for example in examples]
    rows = next(iter(LengthBatches(lengths, settings.batch_size, settings.max_padded_tokens)))
    kept = [examples[row] for row in rows]
    return collate(kept, torch.randn(LAYERS, *collate(kept).mask.shape, ELMO_DIM))


def gigabytes() -> float:
    """Peak memory of the process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure(num_tokens: int, training: bool) -> tuple[int, float, float, float]:
    """Questions in the batch, GB before a step, its seconds, and peak GB after it."""
    torch.manual_seed(1)
    batch = largest_batch(num_tokens)
    task = build_task(task_settings("squad").build)
    words = random_words(distinct_segments(batch.examples), WORD_DIM, True, 1, 0.25)
    elmo_dims = dict.fromkeys(("input", "output"), ELMO_DIM)
    model = task.build_model(words, elmo_dims, {}).train(training)
    mixes = {name: ElmoMix(LAYERS, dropout=0.5).train(training) for name in elmo_dims}
    before, start = gigabytes(), time.perf_counter()
    with torch.set_grad_enabled(training):
        assert batch.layers is not None
        elmo = {name: mix(batch.layers, batch.mask) for name, mix in mixes.items()}
        loss = model(batch, elmo).loss
    if training:
        loss.backward()
    return len(batch), before, time.perf_counter() - start, gigabytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, nargs="+", default=[400, 800], help="of a paragraph")
    args = parser.parse_args()

    table = Table(
        "tokens",
        "step",
        "questions",
        "seconds",
        "GB before",
        "peak GB",
        title=f"{torch.get_num_threads()} thread(s)",
    )
    # A new process for each step, so that the peak is that of this step.
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as processes:
        for num_tokens in args.tokens:
            for name, training in (("training", True), ("evaluation", False)):
                count, before, seconds, peak = processes.submit(
                    measure, num_tokens, training
                ).result()
                numbers = (f"{seconds:.1f}", f"{before:.2f}", f"{peak:.2f}")
                table.add_row(str(num_tokens), name, str(count), *numbers)
    Console().print(table)


if __name__ == "__main__":
    main()
