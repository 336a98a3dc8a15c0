"""Training steps of SRL, coreference and SQuAD at the paper's size, with and without compiled code.

    export OMP_WAIT_POLICY=passive                     # as run.py sets it
    python -m benchmarks.task_steps [--words 500]

A step is the loss and its gradients, on random text with random frozen layers.
"""

import argparse
import random
from collections.abc import Callable, Sequence

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.srl_encoder import seconds
from benchmarks.task_memory import ELMO_DIM, NUM_LAYERS, document, example
from elmo_bench.config.compose import task_settings
from elmo_bench.config.locating import build_task
from elmo_bench.data.example import Example, distinct_segments
from elmo_bench.features.mix import ElmoMix
from elmo_bench.kernels.compiled import without_kernel
from elmo_bench.nn.word_embedding import random_words
from elmo_bench.task import collate
from elmo_bench.tasks.srl.data import SrlTarget
from elmo_bench.training.memory import keep_freed_memory

WORD_DIM = 300
PARAGRAPH = 120  # tokens of SQuAD's paragraphs


def sentence(number: int, generator: random.Random) -> Example:
    """A sentence of 20 to 30 random words and the arguments of its first word."""
    words = tuple(f"word{generator.randint(0, 5000)}" for _ in range(generator.randint(20, 30)))
    target = SrlTarget(0, ((0, 0, "V"), (1, 4, "ARG1"), (7, 9, "ARGM-TMP")))
    return Example(str(number), (words,), target)


def step_of(name: str, examples: Sequence[Example]) -> Callable[[], None]:
    """A training step of the task's model, with ELMo at its input."""
    task = build_task(task_settings(name).build)
    words = random_words(distinct_segments(examples), WORD_DIM, True, 1, 0.25)
    labels = task.label_vocabulary(examples)
    model = task.build_model(words, {"input": ELMO_DIM}, labels).train()
    mix = ElmoMix(NUM_LAYERS, dropout=0.5)
    layers = torch.randn(NUM_LAYERS, *collate(examples).mask.shape, ELMO_DIM)
    batch = collate(examples, layers)

    def step() -> None:
        model(batch, {"input": mix(layers, batch.mask)}).loss.backward()

    return step


def plain(step: Callable[[], None]) -> Callable[[], None]:
    """The same step without compiled code."""

    def run() -> None:
        with without_kernel():
            step()

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=500, help="of the coreference document")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    keep_freed_memory()
    torch.manual_seed(1)
    generator = random.Random(1)
    sizes = {name: task_settings(name).training.batch_size for name in ("srl", "squad")}
    examples = {
        "srl": [sentence(number, generator) for number in range(sizes["srl"])],
        "coref": [document(args.words, 40, generator)],
        "squad": [example("squad", n, PARAGRAPH, generator) for n in range(sizes["squad"])],
    }
    table = Table(
        "",
        "compiled, ms",
        "without, ms",
        "ratio",
        title=f"{sizes['srl']} sentences of SRL, {args.words} words of coreference, "
        f"{sizes['squad']} questions of SQuAD, {torch.get_num_threads()} thread(s)",
    )
    for name, some in examples.items():
        step = step_of(name, some)
        compiled, without = seconds([step, plain(step)], args.repeats)
        numbers = (f"{compiled * 1e3:.0f}", f"{without * 1e3:.0f}", f"{without / compiled:.2f}")
        table.add_row(name, *numbers)
    Console().print(table)


if __name__ == "__main__":
    main()
