"""Memory of each task at the paper's size: a training step and an evaluation of the longest inputs.

    python benchmarks/task_memory.py                            # all tasks, with ELMo
    python benchmarks/task_memory.py --tasks squad --tokens 800
    python benchmarks/task_memory.py --elmo none --device cuda

Models, batches and optimizers are those of conf/task, the words are made up, and the frozen layers
are random numbers of the size of the paper's biLM (three of 1,024 per token). On the CPU, torch's
profiler tracks every allocation of a tensor, so the peak is that of tensors alone: parameters,
gradients, the optimizer, the batch, and what is kept for the backward pass. On a GPU it is what
torch's allocator counts. torch itself, and CUDA's own few hundred MB, come on top.
"""

import argparse
import logging
import random
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from pytorch_lightning import Trainer
from pytorch_lightning.callbacks import EMAWeightAveraging
from rich.console import Console
from rich.table import Table
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader

from elmo_bench.config.compose import run_settings
from elmo_bench.config.locating import build_task
from elmo_bench.config.settings import RunSettings
from elmo_bench.data.example import Example
from elmo_bench.devices import resolve_device
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.runs.build import build_module
from elmo_bench.runs.datamodule import LengthBatches
from elmo_bench.runs.module import TaskModule
from elmo_bench.task import Batch, collate
from elmo_bench.tasks.coref.data import CorefTarget
from elmo_bench.tasks.squad.data import SquadTarget
from elmo_bench.tasks.srl.data import SrlTarget

NUM_LAYERS, ELMO_DIM = 3, 1024
NUM_WORDS = 100_000  # with a vector
# Tokens of the longest first segment, and of the second: about the longest of the training splits
# of CoNLL-2003, SST, SNLI and OntoNotes; where SQuAD and SRL cut or skip.
LONGEST = {"ner": 113, "sst5": 52, "snli": 82, "squad": 400, "srl": 100, "coref": 4000}
SECOND = {"snli": 62, "squad": 40}
WORD_DIM = {"ner": 50, "srl": 100, "coref": 350}  # of the originals; else 300
LONGEST_SENTENCE = 60  # of a document


def example(task: str, number: int, num_tokens: int, draws: random.Random) -> Example:
    """An example with this many tokens in its first segment; of coref, a document of sentences."""
    words = tuple(f"word{draws.randrange(NUM_WORDS)}" for _ in range(num_tokens))
    second = tuple(f"word{draws.randrange(NUM_WORDS)}" for _ in range(SECOND.get(task, 0)))
    segments = (words, second) if second else (words,)
    match task:
        case "ner":
            target: object = ("B-PER", "I-PER", "O", "B-LOC", "B-ORG", "B-MISC") + ("O",) * (
                num_tokens - 6
            )
        case "sst5":
            target = number % 5
        case "snli":
            target = ("entailment", "neutral", "contradiction")[number % 3]
        case "squad":
            offsets = tuple((start, start + 1) for start in range(num_tokens))
            target = SquadTarget("-" * num_tokens, offsets, ("-",), ((0, 0),))
        case "srl":
            labels = [f"ARG{n}" for n in range(30)]  # with their beginnings: 62 tags
            arguments = tuple((n, n, label) for n, label in enumerate(labels, start=1))
            target = SrlTarget(0, ((0, 0, "V"), *arguments))
        case "coref":
            return document(num_tokens, LONGEST_SENTENCE, draws)
    return Example(f"{task}{number}", segments, target)


def document(num_words: int, longest: int, draws: random.Random) -> Example:
    """A document of sentences of 1 to `longest` words; every tenth word is a mention."""
    sentences, left = [], num_words
    while left:
        length = min(left, draws.randint(1, longest))
        sentences.append(tuple(f"word{draws.randrange(NUM_WORDS)}" for _ in range(length)))
        left -= length
    mentions = range(0, num_words, 10)
    clusters = tuple(tuple((m, m) for m in mentions[n::20]) for n in range(20))
    target = CorefTarget("made/up", 0, "made", ("-",) * num_words, clusters)
    return Example("made/up_0", tuple(sentences), target)


def largest_batch(settings: RunSettings, num_tokens: int) -> Batch:
    """As many examples as the task's settings allow, none sharing a segment, with layers."""
    training, draws = settings.task.training, random.Random(1)
    made = [example(settings.task.name, n, num_tokens, draws) for n in range(training.batch_size)]
    lengths = [[len(segment) for segment in one.segments] for one in made]
    rows = next(iter(LengthBatches(lengths, training.batch_size, training.max_padded_tokens)))
    batch = collate([made[row] for row in rows])
    if settings.elmo.is_baseline:
        return batch
    return collate(batch.examples, torch.randn(NUM_LAYERS, *batch.mask.shape, ELMO_DIM))


def new_module(settings: RunSettings, batch: Batch) -> TaskModule:
    """The task's model, untrained."""
    task, how = build_task(settings.task.build), settings.task.words
    vocabulary = [f"word{number}" for number in range(NUM_WORDS)]
    dim = WORD_DIM.get(settings.task.name, 300)
    words = WordEmbedding(vocabulary, dim, how.lowercase, how.trainable)
    scale = [1.0] * NUM_LAYERS if settings.elmo.scale == "rms" else settings.elmo.scale
    shape = {"num_layers": NUM_LAYERS, "dim": ELMO_DIM, "scale": scale}
    labels = task.label_vocabulary(batch.examples)
    return build_module(settings, task, words, None if batch.layers is None else shape, labels)


def new_trainer(settings: RunSettings, device: torch.device) -> Trainer:
    training = settings.task.training
    averaging = [] if training.ema is None else [EMAWeightAveraging(device, decay=training.ema)]
    return Trainer(
        accelerator=device.type,
        devices=1,
        max_epochs=2,  # optimizers make what they keep in their first step
        gradient_clip_val=training.gradient_clip_val,
        gradient_clip_algorithm=training.gradient_clip_algorithm,
        callbacks=averaging,
        logger=False,
        **dict.fromkeys(("enable_checkpointing", "enable_progress_bar"), False),
        enable_model_summary=False,
    )


@contextmanager
def peak_of(device: torch.device) -> Iterator[Callable[[], float]]:
    """A function for the peak in GB of tensors made within, to be called after it."""
    peaks: list[float] = []
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        yield lambda: peaks[0]
        peaks.append(torch.cuda.max_memory_allocated(device) / 1e9)
        return
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        yield lambda: peaks[0]
    events = [e for e in profiled.profiler.kineto_results.events() if e.name() == "[memory]"]
    held = torch.tensor([e.nbytes() for e in sorted(events, key=lambda e: e.start_ns())])
    peaks.append(held.cumsum(0).max().item() / 1e9)


def measure(settings: RunSettings, num_tokens: int, device: torch.device) -> list[str]:
    """A row of the table."""
    torch.manual_seed(1)
    start = time.perf_counter()
    with peak_of(device) as training:
        batch = largest_batch(settings, num_tokens)
        module = new_module(settings, batch)
        new_trainer(settings, device).fit(module, DataLoader([batch], batch_size=None))
    parameters = sum(p.numel() for p in module.parameters() if p.requires_grad)
    rows, time_steps = batch.mask.shape
    batch_shape = f"{len(batch)} x {num_tokens}, {rows * time_steps:,} padded"
    del module, batch
    with peak_of(device) as evaluation:
        batch = largest_batch(settings, num_tokens)
        module = new_module(settings, batch).eval().to(device)
        with torch.inference_mode():
            module(batch.to(device))
    shown = [batch_shape, f"{parameters / 1e6:.1f} M", f"{training():.2f}", f"{evaluation():.2f}"]
    return [settings.task.name, *shown, f"{time.perf_counter() - start:.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="*", choices=LONGEST, default=list(LONGEST))
    parser.add_argument("--tokens", type=int, help="of the first segment, instead of the longest")
    parser.add_argument("--elmo", default="paper", help="none: the baseline")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("overrides", nargs="*", help="of run.py, such as size@task=mini/ner")
    args = parser.parse_args()
    device = resolve_device(args.device)
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="pytorch_lightning")
    columns = ("task", "batch", "trained", "training, GB", "evaluation, GB", "seconds")
    table = Table(*columns, title=f"elmo={args.elmo}, float32, {device.type}")
    for task in args.tasks:
        chosen = [f"task={task}", f"elmo={args.elmo}", "data=files", "data.dir=unused"]
        settings = run_settings([*chosen, *args.overrides])
        table.add_row(*measure(settings, args.tokens or LONGEST[task], device))
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
