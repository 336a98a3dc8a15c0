"""Time and peak memory of coreference at the paper's size: evaluating and training on a document.

Run: OMP_NUM_THREADS=1 python -m benchmarks.coref_memory
"""

import argparse
import random
import resource
import time

import torch
from rich.console import Console
from rich.table import Table

from elmo_bench.config.compose import task_settings
from elmo_bench.config.locating import build_task
from elmo_bench.data.example import Example
from elmo_bench.features.mix import ElmoMix
from elmo_bench.nn.word_embedding import random_words
from elmo_bench.task import Batch, collate
from elmo_bench.tasks.coref.data import CorefTarget

LAYERS, ELMO_DIM, WORD_DIM = 3, 1024, 300


def document(num_words: int, longest: int, generator: random.Random) -> Example:
    """A document of random words in sentences of 1 to `longest`; every tenth word is a mention."""
    sentences, left = [], num_words
    while left:
        length = min(left, generator.randint(1, longest))
        sentences.append(tuple(f"word{generator.randint(0, 5000)}" for _ in range(length)))
        left -= length
    mentions = range(0, num_words, 10)
    clusters = tuple(tuple((m, m) for m in mentions[n::20]) for n in range(20))
    target = CorefTarget("made/up", 0, "made", ("-",) * num_words, clusters)
    return Example("made/up_0", tuple(sentences), target)


def gigabytes() -> float:
    """Peak memory of the process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=5000)
    parser.add_argument("--longest", type=int, default=60, help="longest sentence, in words")
    args = parser.parse_args()

    torch.manual_seed(1)
    task = build_task(task_settings("coref").build)
    example = document(args.words, args.longest, random.Random(1))
    words = random_words(example.segments, WORD_DIM, True, 1, 0.25)
    model = task.build_model(words, {"input": ELMO_DIM}, task.label_vocabulary([example]))
    mix = ElmoMix(LAYERS, dropout=0.5)
    shape = collate([example]).mask.shape
    batch = collate([example], torch.randn(LAYERS, *shape, ELMO_DIM))

    def loss_of(batch: Batch) -> torch.Tensor:
        assert batch.layers is not None
        return model(batch, {"input": mix(batch.layers, batch.mask)}).loss

    before = gigabytes()
    table = Table(
        "",
        "seconds",
        "peak memory, GB",
        title=f"{args.words} words in {len(example.segments)} sentences, "
        f"{torch.get_num_threads()} thread(s); {before:.2f} GB before",
    )
    model.eval(), mix.eval()
    start = time.perf_counter()
    with torch.no_grad():
        loss_of(batch)
    table.add_row(
        "evaluation, whole document", f"{time.perf_counter() - start:.1f}", f"{gigabytes():.2f}"
    )
    model.train(), mix.train()
    start = time.perf_counter()
    loss_of(batch).backward()
    name = f"training step, truncated to {task.settings.max_sentences} sentences"
    table.add_row(name, f"{time.perf_counter() - start:.1f}", f"{gigabytes():.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
