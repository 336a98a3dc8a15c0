r"""Tokens per second of pretraining for each loss and size, compared with a plain training loop.

    export OMP_WAIT_POLICY=passive                           # as run.py and pretrain.py set it
    python benchmarks/pretraining.py                         # random text
    python benchmarks/pretraining.py --text 'text/*.txt.gz' --sizes 512/128
    python benchmarks/pretraining.py --sizes 256/128 512/128 1024/128 --threads 1 2 \
        --methods 'ours, adaptive'                           # cost against size and threads

The plain loop runs the character CNN at every position and the LSTMs step by step, leaves their
gradients to autograd, and uses the full softmax. All methods take whole training steps, with
clipping and Adam, on the same batches in the same run. With the full softmax, our gradients are
checked to equal those of the plain loop. A token is counted once for both directions.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import product
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.nn.functional import conv1d, embedding, linear
from torch.nn.utils import clip_grad_norm_

from elmo_bench.bilm.lstm import LstmLayer, run_stacks
from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.softmax import Softmax, build_softmax
from elmo_bench.bilm.vocabulary import Vocabulary
from elmo_bench.config.compose import pretrain_settings
from elmo_bench.config.pretraining_settings import LossSettings
from elmo_bench.kernels.compiled import without_kernel
from elmo_bench.pretraining.corpus import Sentence, TextCorpus
from elmo_bench.pretraining.loader import StreamBatch, StreamLoader
from elmo_bench.pretraining.sentence_store import PreparedCorpus, prepare_corpus
from elmo_bench.training.memory import keep_freed_memory

BATCH_SIZE, UNROLL_STEPS = 32, 20
NUM_WORDS = 30_000
LOSSES = {
    kind: LossSettings(kind=kind, cutoffs=[2000, 8000], div_value=2, num_negatives=8192)
    for kind in ("full", "sampled", "adaptive")
}
PLAIN = "plain loop, full softmax"
Hidden = Callable[[BiLm, StreamBatch], Tensor]
Seconds = dict[tuple[str, int], float]  # by method and number of threads


def our_hidden(bilm: BiLm, batch: StreamBatch) -> Tensor:
    """(direction, token, dim), as the LightningModule computes it."""
    vectors = bilm.encoder(batch.words)
    stacks = (bilm.forward_lstm, bilm.backward_lstm)
    inputs = embedding(batch.inputs.transpose(1, 2).flatten(1), vectors)
    states = [stack.new_state(BATCH_SIZE) for stack in stacks]
    results = run_stacks(stacks, list(inputs), [BATCH_SIZE] * UNROLL_STEPS, states)
    return torch.stack([layers[-1] for layers, _ in results])


def plain_hidden(bilm: BiLm, batch: StreamBatch) -> Tensor:
    """The same, encoding every position and computing every step separately."""
    tops = []
    for direction, stack in enumerate((bilm.forward_lstm, bilm.backward_lstm)):
        ids = batch.words[batch.inputs[direction].flatten()]
        below = encode_all(bilm, ids).view(BATCH_SIZE, UNROLL_STEPS, -1)
        for number, layer in enumerate(stack.layers):
            above = run_steps(layer, below)
            below = above + below if number and stack.skip_connections else above
        tops.append(below)
    return torch.stack(tops).transpose(1, 2).flatten(1, 2)


def encode_all(bilm: BiLm, ids: Tensor) -> Tensor:
    cnn = bilm.encoder
    chars = embedding(ids, cnn.chars).transpose(1, 2)
    maxima = [
        conv1d(chars, kernel.unflatten(1, (-1, chars.shape[1])).transpose(1, 2)).amax(dim=2)
        for kernel in cnn.kernels
    ]
    vectors = cnn.activation(torch.cat(maxima, dim=1) + cnn.bias)
    for highway in cnn.highways:
        vectors = highway(vectors)
    return cnn.projection(vectors)


def run_steps(layer: LstmLayer, inputs: Tensor) -> Tensor:
    weight = torch.cat([layer.input_weight, layer.recurrent_weight], dim=1)
    hidden = inputs.new_zeros(BATCH_SIZE, inputs.shape[2])
    cell = inputs.new_zeros(BATCH_SIZE, layer.projection_weight.shape[1])
    outputs = []
    for step in range(UNROLL_STEPS):
        gates = linear(torch.cat([inputs[:, step], hidden], dim=1), weight, layer.bias)
        new, candidate, forget, output = gates.chunk(4, dim=1)
        cell = torch.sigmoid(forget + 1) * cell + torch.sigmoid(new) * torch.tanh(candidate)
        cell = cell.clamp(-3, 3)
        hidden = linear(torch.sigmoid(output) * torch.tanh(cell), layer.projection_weight)
        hidden = hidden.clamp(-3, 3)
        outputs.append(hidden)
    return torch.stack(outputs, dim=1)


class Method:
    """One way to train: its own model, and whole steps with clipping and Adam."""

    def __init__(
        self, size: str, loss: str, hidden: Hidden, vocabulary: Vocabulary, compiled: bool = True
    ) -> None:
        self.context = nullcontext if compiled else without_kernel
        torch.manual_seed(1)
        units, projection = size.split("/")
        overrides = [
            "bilm=english",
            f"bilm.lstm.hidden_dim={units}",
            f"bilm.lstm.projection_dim={projection}",
            "bilm.lstm.dropout=0",
        ]
        self.bilm = BiLm(pretrain_settings(overrides).bilm.architecture())
        self.softmax: Softmax = build_softmax(LOSSES[loss], int(projection), len(vocabulary))
        self.parameters = [*self.bilm.parameters(), *self.softmax.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, 1e-3, fused=hidden is our_hidden)
        self.hidden = hidden

    def loss(self, batch: StreamBatch) -> Tensor:
        with self.context():
            return self._loss(batch)

    def _loss(self, batch: StreamBatch) -> Tensor:
        hidden = self.hidden(self.bilm, batch)
        return self.softmax.loss(hidden, batch.targets.transpose(1, 2).flatten(1), seed=1).mean()

    def step(self, batch: StreamBatch) -> None:
        self.optimizer.zero_grad()
        self.loss(batch).backward()
        clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()


def check_gradients(methods: Sequence[Method], batch: StreamBatch) -> None:
    """Check that methods with the same loss have the same gradients."""
    gradients = [torch.autograd.grad(m.loss(batch), m.parameters) for m in methods]
    for others in gradients[1:]:
        for got, expected in zip(others, gradients[0], strict=True):
            torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


def measure(
    methods: dict[str, Method], batches: Sequence[StreamBatch], threads: Sequence[int]
) -> Seconds:
    """Seconds per step: the median over the batches, on which the methods alternate."""
    seconds: dict[tuple[str, int], list[float]] = {}
    for batch in batches:
        for name, number in product(methods, threads):
            torch.set_num_threads(number)
            start = time.perf_counter()
            methods[name].step(batch)
            seconds.setdefault((name, number), []).append(time.perf_counter() - start)
    # Without the first two steps, which allocate memory.
    return {key: sorted(times[2:])[len(times[2:]) // 2] for key, times in seconds.items()}


def compare(
    size: str,
    text: PreparedCorpus,
    num_batches: int,
    only: Sequence[str],
    threads: Sequence[int],
) -> Seconds:
    vocabulary = text.vocabulary(NUM_WORDS, 1)
    methods = {PLAIN: Method(size, "full", plain_hidden, vocabulary, compiled=False)}
    for loss in LOSSES:
        methods[f"ours, {loss}"] = Method(size, loss, our_hidden, vocabulary)
        in_pytorch = Method(size, loss, our_hidden, vocabulary, compiled=False)
        methods[f"ours, {loss}, without compiled code"] = in_pytorch
    loader = StreamLoader(
        text.train,
        vocabulary,
        methods["ours, full"].bilm.encoder,
        batch_size=BATCH_SIZE,
        rows=range(BATCH_SIZE),
        unroll_steps=UNROLL_STEPS,
        num_batches=num_batches,
        seed=1,
        state_reset_prob=0.0,
    )
    batches = list(loader)
    check_gradients(
        [methods[PLAIN], *(methods[name] for name in methods if "full" in name)], batches[0]
    )
    if only:
        methods = {name: method for name, method in methods.items() if name in (PLAIN, *only)}
    return measure(methods, batches, threads)


def table_of(results: dict[str, Seconds]) -> Table:
    """Tokens per second for each size, and how many times those of three others they are."""
    first_size, of_first = next(iter(results.items()))
    _, first_threads = next(iter(of_first))
    table = Table("units", "threads", title="speed, also divided by that of ...")
    table.add_column("", no_wrap=True)
    headings = ("plain loop", f"{first_threads} thread(s)", f"{first_size} units")
    for heading in ("tokens/s", *headings):
        table.add_column(heading, justify="right")
    for size, seconds in results.items():
        for (name, threads), taken in seconds.items():
            others = seconds[PLAIN, threads], seconds[name, first_threads], of_first[name, threads]
            ratios = [f"{other / taken:.2f}" for other in others]
            tokens = f"{BATCH_SIZE * UNROLL_STEPS / taken:,.0f}"
            table.add_row(size, str(threads), name, tokens, *ratios)
        table.add_section()
    return table


class RandomCorpus:
    """Random sentences with a Zipfian vocabulary and about the lengths of English ones."""

    def train(self) -> Iterator[Sentence]:
        source = random.Random(1)
        letters = "etaoinshrdlcumwfgypbvk"
        words = ["".join(source.choices(letters, k=source.randint(2, 11))) for _ in range(60_000)]
        weights = [1 / (rank + 2.7) for rank in range(len(words))]
        for _ in range(20_000):
            yield source.choices(words, weights, k=max(3, round(source.lognormvariate(3, 0.5))))

    def heldout(self) -> dict[str, list[Sentence]]:
        return {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", nargs="*", help="files or glob patterns (default: random text)")
    parser.add_argument(
        "--sizes",
        nargs="+",
        default=["256/64", "256/128", "512/128"],
        help="LSTM units / projection",
    )
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--methods", nargs="*", default=(), help="names of rows (default: all)")
    parser.add_argument("--threads", type=int, nargs="+", default=[torch.get_num_threads()])
    args = parser.parse_args()
    keep_freed_memory()
    corpus = TextCorpus(args.text, None) if args.text else RandomCorpus()
    with tempfile.TemporaryDirectory() as folder:
        text = prepare_corpus(corpus, {}, Path(folder))
        results = {
            size: compare(size, text, args.batches, args.methods, args.threads)
            for size in args.sizes
        }
    Console().print(table_of(results))


if __name__ == "__main__":
    main()
