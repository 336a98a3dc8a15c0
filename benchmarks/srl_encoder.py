"""Speed of the highway LSTM, a step-by-step version of it, and nn.LSTM of the same size.

Run: OMP_NUM_THREADS=1 python -m benchmarks.srl_encoder
"""

import argparse
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from elmo_bench.kernels.compiled import without_kernel
from elmo_bench.nn.packed import Packing
from elmo_bench.tasks.srl.encoder import HighwayLstm
from elmo_bench.training.memory import keep_freed_memory


def seconds(steps: list[Callable[[], object]], repeats: int) -> list[float]:
    """The shortest time of each step; steps alternate, so that other load affects all of them."""
    best = [float("inf")] * len(steps)
    for _ in range(repeats):
        for number, step in enumerate(steps):
            start = time.perf_counter()
            step()
            best[number] = min(best[number], time.perf_counter() - start)
    return best


def step_by_step(encoder: HighwayLstm, inputs: Tensor, mask: Tensor) -> Tensor:
    """The same layers on padded sequences, one step at a time, with gradients by autograd."""
    for layer in encoder.layers:
        output = cell = inputs.new_zeros(len(inputs), encoder.hidden_dim)
        outputs = [output] * inputs.shape[1]
        times = range(inputs.shape[1])
        for step in reversed(times) if layer.backwards else times:
            *gates, linear = layer.from_input(inputs[:, step]).chunk(6, dim=1)
            fed_back = layer.from_output(output).chunk(5, dim=1)
            j, i, f, o, r = (gate + more for gate, more in zip(gates, fed_back, strict=True))
            moved = f.sigmoid() * cell + i.sigmoid() * j.tanh()
            carry = r.sigmoid()
            raised = carry * o.sigmoid() * moved.tanh() + (1 - carry) * linear
            inside = mask[:, step, None]
            cell, output = torch.where(inside, moved, cell), torch.where(inside, raised, output)
            outputs[step] = torch.where(inside, raised, 0.0)
        inputs = torch.stack(outputs, dim=1)
    return inputs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=80)
    parser.add_argument("--shortest", type=int, default=20)
    parser.add_argument("--longest", type=int, default=30)
    parser.add_argument("--input", type=int, default=200)
    parser.add_argument("--units", type=int, default=300)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    keep_freed_memory()
    torch.manual_seed(1)
    lengths = torch.randint(args.shortest, args.longest + 1, (args.batch,))
    lengths[0] = args.longest
    mask = torch.arange(args.longest) < lengths[:, None]
    inputs = torch.randn(args.batch, args.longest, args.input)
    ours = HighwayLstm(args.input, args.units, args.layers, dropout=0.0)
    theirs = nn.LSTM(args.input, args.units, args.layers, batch_first=True)

    def packed() -> Tensor:
        packing = Packing(mask)
        return ours(packing.pack(inputs), packing)

    def lstm_packed() -> Tensor:
        packing = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
        return theirs(packing)[0].data

    def in_pytorch() -> Tensor:
        with without_kernel():
            return packed()

    calls: dict[str, Callable[[], Tensor]] = {
        "highway LSTM, compiled (elmo_bench)": packed,
        "highway LSTM, packed, without compiled code": in_pytorch,
        "highway LSTM, step by step": lambda: step_by_step(ours, inputs, mask),
        "nn.LSTM, packed": lstm_packed,
        "nn.LSTM, padded": lambda: theirs(inputs)[0],
    }
    packing = Packing(mask)
    torch.testing.assert_close(
        packing.unpack(packed()), step_by_step(ours, inputs, mask), atol=1e-5, rtol=1e-4
    )
    training = seconds([lambda f=f: f().sum().backward() for f in calls.values()], args.repeats)
    with torch.no_grad():
        forward = seconds(list(calls.values()), args.repeats)

    tokens = int(lengths.sum())
    table = Table(
        "",
        "training step, ms",
        "tokens/s",
        "forward, ms",
        "tokens/s",
        title=f"{args.layers} layers of {args.units}, {args.batch} sequences of {args.shortest} to "
        f"{args.longest}, {torch.get_num_threads()} thread(s)",
    )
    for name, *both in zip(calls, training, forward, strict=True):
        columns = [(f"{taken * 1e3:.0f}", f"{tokens / taken:,.0f}") for taken in both]
        table.add_row(name, *columns[0], *columns[1])
    Console().print(table)


if __name__ == "__main__":
    main()
