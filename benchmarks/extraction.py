"""Tokens per second of frozen extraction, compared with a reference that works as AllenNLP's Elmo.

    python benchmarks/extraction.py                         # small and original size, random text
    python benchmarks/extraction.py --text FILE --sizes small

The reference runs the character CNN at every position of a padded batch and both LSTMs step by
step, one direction after the other, with the same weights. Both embed the same sentences in the
same run, 64 per batch, and their layers are compared.
"""

import argparse
import os
import random
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.nn.functional import conv1d, embedding, linear

from elmo_bench.bilm import lstm
from elmo_bench.bilm.characters import BOS, EOS, char_ids
from elmo_bench.bilm.model import BiLm
from elmo_bench.config.compose import pretrain_settings
from elmo_bench.data.files import numbered_lines
from elmo_bench.kernels.compiled import load_kernel, without_kernel

BATCH_SIZE = 64
PROJECT = Path(__file__).parents[1]
Sentences = Sequence[Sequence[str]]


class Reference:
    """A biLM run as AllenNLP runs it; with `words`, their token vectors are computed once."""

    def __init__(self, bilm: BiLm, words: Sequence[str] = ()) -> None:
        self.bilm, self.cnn = bilm, bilm.encoder
        self.rows = {word: row for row, word in enumerate(words)}
        self.table = self.encode(char_ids(words, self.cnn.max_chars)) if words else None

    def embed(self, sentences: Sentences) -> list[Tensor]:
        results = []
        for start in range(0, len(sentences), BATCH_SIZE):
            results += self.embed_batch(sentences[start : start + BATCH_SIZE])
        return results

    def embed_batch(self, sentences: Sentences) -> list[Tensor]:
        order = sorted(range(len(sentences)), key=lambda row: -len(sentences[row]))
        framed = [[BOS, *sentences[row], EOS] for row in order]
        lengths = [len(sentence) for sentence in framed]
        inputs = self.token_layer(framed, lengths[0])
        layers = [torch.cat([inputs, inputs], dim=2)]
        directions = []
        for stack, backward in ((self.bilm.forward_lstm, False), (self.bilm.backward_lstm, True)):
            outputs, below = [], inputs
            for number, layer in enumerate(stack.layers):
                above = self.run_layer(layer, below, lengths, backward)
                below = above + below if stack.skip_connections and number else above
                outputs.append(below)
            directions.append(outputs)
        layers += [torch.cat(pair, dim=2) for pair in zip(*directions, strict=True)]
        stacked = torch.stack(layers)
        by_row = {row: stacked[:, i, 1 : lengths[i] - 1] for i, row in enumerate(order)}
        return [by_row[row] for row in range(len(sentences))]

    def token_layer(self, framed: Sentences, longest: int) -> Tensor:
        if self.table is not None:
            rows = [[self.rows[word] for word in s] + [0] * (longest - len(s)) for s in framed]
            return embedding(torch.tensor(rows), self.table)
        padded = [word for s in framed for word in [*s, *[""] * (longest - len(s))]]
        ids = char_ids(padded, self.cnn.max_chars)
        return self.encode(ids).unflatten(0, (len(framed), longest))

    def encode(self, ids: Tensor) -> Tensor:
        chars = embedding(ids, self.cnn.chars).transpose(1, 2)
        start, maxima = 0, []
        for kernel in self.cnn.kernels:
            weight = kernel.unflatten(1, (-1, chars.shape[1])).transpose(1, 2)
            bias = self.cnn.bias[start : start + len(kernel)]
            start += len(kernel)
            maxima.append(self.cnn.activation(conv1d(chars, weight, bias).amax(dim=2)))
        vectors = torch.cat(maxima, dim=1)
        for highway in self.cnn.highways:
            vectors = highway(vectors)
        return self.cnn.projection(vectors)

    def run_layer(
        self, layer: lstm.LstmLayer, inputs: Tensor, lengths: Sequence[int], backward: bool
    ) -> Tensor:
        batch_size, num_steps, dim = inputs.shape
        outputs = inputs.new_zeros(batch_size, num_steps, dim)
        hidden = inputs.new_zeros(batch_size, dim)
        cell = inputs.new_zeros(batch_size, layer.projection_weight.shape[1])
        bias = layer.bias + layer.bias_offset
        for step in reversed(range(num_steps)) if backward else range(num_steps):
            size = sum(length > step for length in lengths)
            gates = linear(inputs[:size, step], layer.input_weight, bias)
            gates = gates + linear(hidden[:size], layer.recurrent_weight)
            new, candidate, forget, output = gates.chunk(4, dim=1)
            memory = torch.sigmoid(new) * torch.tanh(candidate)
            memory = memory + torch.sigmoid(forget) * cell[:size]
            memory = memory.clamp(-layer.clips[0], layer.clips[0])
            out = linear(torch.sigmoid(output) * torch.tanh(memory), layer.projection_weight)
            out = out.clamp(-layer.clips[1], layer.clips[1])
            hidden, cell = hidden.clone(), cell.clone()
            hidden[:size], cell[:size], outputs[:size, step] = out, memory, out
        return outputs


def measure(methods: dict[str, Callable[[], list[Tensor]]], rounds: int) -> dict[str, float]:
    """Seconds of each method's fastest round; they alternate, so that other load affects all."""
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for _ in range(rounds):
        for name, embed in methods.items():
            start = time.perf_counter()
            embed()
            seconds[name].append(time.perf_counter() - start)
    return {name: min(times) for name, times in seconds.items()}


def cold(bilm: BiLm, sentences: Sentences) -> list[Tensor]:
    bilm.extractor.words.version = []  # forget all words
    return bilm.embed(sentences, batch_size=BATCH_SIZE)


def plain(bilm: BiLm, sentences: Sentences) -> list[Tensor]:
    """Embed without compiled code."""
    with without_kernel():
        return cold(bilm, sentences)


def peak_gflops() -> float:
    left, right = torch.randn(2, 2048, 2048)
    times = []
    for _ in range(12):
        start = time.perf_counter()
        left @ right
        times.append(time.perf_counter() - start)
    return 2 * 2048**3 / min(times) / 1e9


def gflop_of(bilm: BiLm, sentences: Sentences) -> float:
    """Least work of the matrix products in our code: each word and each token once."""
    num_tokens = sum(len(sentence) + 2 for sentence in sentences)
    words = {word for sentence in sentences for word in sentence}
    stacks = sum(p.numel() for p in bilm.forward_lstm.parameters() if p.dim() == 2)
    cnn = bilm.encoder
    per_word = sum(p.numel() for p in [*cnn.highways.parameters(), *cnn.projection.parameters()])
    windows = sum(len(word.encode()) + 2 for word in words) * sum(k.numel() for k in cnn.kernels)
    return 2 * (2 * num_tokens * stacks + len(words) * per_word + windows) / 1e9


def random_sentences(num_sentences: int) -> list[list[str]]:
    """Random sentences, as long and repetitive as English: a quarter of 5,000 tokens distinct."""
    source = random.Random(1)
    letters = "etaoinshrdlcumwfgypbvk"
    words = [
        "".join(source.choices(letters, k=min(2 + number // 40, source.randint(3, 12))))
        for number in range(50_000)
    ]
    weights = [(rank + 2.7) ** -1.2 for rank in range(len(words))]
    lengths = [
        max(3, min(80, round(source.lognormvariate(2.8, 0.6)))) for _ in range(num_sentences)
    ]
    return [source.choices(words, weights, k=length) for length in lengths]


def compare(size: str, sentences: Sentences, peak: float, rounds: int) -> Table:
    torch.manual_seed(1)
    bilm = BiLm(pretrain_settings([f"bilm={size}"]).bilm.architecture()).eval()
    num_tokens, work = sum(map(len, sentences)), gflop_of(bilm, sentences)
    words = [BOS, EOS, *{word for sentence in sentences for word in sentence}]
    with torch.no_grad():
        reference, cached = Reference(bilm), Reference(bilm, words)
        methods = {
            "reference": lambda: reference.embed(sentences),
            "ours, plain PyTorch": lambda: plain(bilm, sentences),
            "ours, compiled": lambda: cold(bilm, sentences),
            "reference, words cached": lambda: cached.embed(sentences),
            "ours, words cached": lambda: bilm.embed(sentences, batch_size=BATCH_SIZE),
        }
        if load_kernel() is None:
            del methods["ours, compiled"]
        expected = torch.cat(reference.embed(sentences), dim=1)
        differences = {
            name: (torch.cat(embed(), dim=1) - expected).abs().mean().item()
            for name, embed in methods.items()
        }
        seconds = measure(methods, rounds)
    table = Table(title=f"{size}: {len(sentences)} sentences, {num_tokens} tokens")
    for heading in ("", "tokens/s", "ratio", "share of GEMM peak", "mean |difference|"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, taken in seconds.items():
        cached_words = name.endswith("cached")
        against = seconds["reference, words cached" if cached_words else "reference"]
        table.add_row(
            name,
            f"{num_tokens / taken:,.0f}",
            f"{against / taken:.2f}",
            f"{work / taken / peak:.0%}" if name.startswith("ours") and not cached_words else "",
            f"{differences[name]:.1e}",
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--text", type=Path, help="one sentence per line, tokens separated by spaces"
    )
    parser.add_argument("--sizes", nargs="+", default=["small", "original"])
    parser.add_argument("--sentences", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3, help="the fastest one is reported")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    sentences = random_sentences(args.sentences)
    if args.text:
        lines = (line.split() for _, line in numbered_lines(args.text))
        sentences = list(islice((line for line in lines if line), args.sentences))
    peak, console = peak_gflops(), Console()
    console.print(f"{args.threads} threads, {peak:.0f} GFLOP/s in a large float32 matrix product")
    for size in args.sizes:
        console.print(compare(size, sentences, peak, args.rounds))


if __name__ == "__main__":
    main()
