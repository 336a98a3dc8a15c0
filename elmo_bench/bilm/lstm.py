"""LSTM with projection, cell clipping and projection clipping, as in bilm-tf's LSTMCell.

Inputs are packed: rows sorted by time step, and in each step the longest sequences first, so a
batch shrinks as sequences end and no step computes padding. `sizes` is the number of rows per step.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import inf, sqrt

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import dropout, linear

from elmo_bench.bilm.batched_layer import run_batched
from elmo_bench.bilm.panels import PANEL_ROWS, filled, in_panels
from elmo_bench.kernels.compiled import fits, load_kernel
from elmo_bench.kernels.recurrence import Operands, Reading, run_layers

State = tuple[Float[Tensor, "layer batch dim"], Float[Tensor, "layer batch cell"]]

SPAN_ROWS = 512  # whose gates are in memory at once: 32 MB at the original size
FORGET_BIAS = 1.0  # added in forward; neither the parameters nor the official files contain it


class LstmLayer(nn.Module):
    """One layer: c = clip(s(f)*c + s(i)*tanh(j)), h = clip(W_P (s(o)*tanh(c))); gates i, j, f, o.

    Args:
        cell_clip: Bound of the cell's absolute value, or None.
        projection_clip: Bound of the output's absolute value, or None.
    """

    bias_offset: Tensor

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        projection_dim: int,
        cell_clip: int | float | None,
        projection_clip: int | float | None,
    ) -> None:
        super().__init__()
        self.clips = cell_clip, projection_clip
        self.input_weight = nn.Parameter(torch.empty(4 * hidden_dim, input_dim))
        self.recurrent_weight = nn.Parameter(torch.empty(4 * hidden_dim, projection_dim))
        self.bias = nn.Parameter(torch.zeros(4 * hidden_dim))
        self.projection_weight = nn.Parameter(torch.empty(projection_dim, hidden_dim))
        # Glorot bound of the single matrix that bilm-tf has over [input; state].
        bound = sqrt(6 / (input_dim + projection_dim + 4 * hidden_dim))
        nn.init.uniform_(self.input_weight, -bound, bound)
        nn.init.uniform_(self.recurrent_weight, -bound, bound)
        nn.init.xavier_uniform_(self.projection_weight)
        offset = torch.zeros(4, hidden_dim)
        offset[2] = FORGET_BIAS
        self.register_buffer("bias_offset", offset.flatten(), persistent=False)

    def forward(
        self,
        inputs: Float[Tensor, "row dim"],
        sizes: Sequence[int],
        hidden: Float[Tensor, "batch projection"],
        cell: Float[Tensor, "batch hidden"],
    ) -> tuple[
        Float[Tensor, "row projection"],
        Float[Tensor, "batch projection"],
        Float[Tensor, "batch hidden"],
    ]:
        """Run packed sequences; return all outputs and every sequence's last state."""
        return run_together([self], [inputs], sizes, [(hidden, cell)])[0]

    @property
    def bounds(self) -> tuple[float, float]:
        """The clips of cell and output; infinity means no bound."""
        cell, projection = (inf if clip is None else float(clip) for clip in self.clips)
        return cell, projection

    def reading(self, sizes: Sequence[int]) -> Reading:
        """How compiled code reads sequences with this layer."""
        return Reading("clipped", sizes, False, *self.bounds)

    def operands(self, inputs: Tensor, hidden: Tensor, cell: Tensor) -> Operands:
        """The tensors that compiled code needs."""
        weights = (self.input_weight, self.gate_bias, self.recurrent_weight, self.projection_weight)
        return Operands(inputs, *weights, hidden, cell)

    @property
    def gate_bias(self) -> Tensor:
        """The bias with which the gates are computed."""
        return self.bias + self.bias_offset

    def run_plain(
        self, inputs: Tensor, sizes: Sequence[int], hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Compute `forward` without compiled code, as on other devices than the CPU."""
        # One matrix product for all steps; only the recurrent product stays in the loop.
        gates = linear(inputs, self.input_weight, self.gate_bias)
        return self._run_steps(gates.split(list(sizes)), hidden, cell)

    def run_panels(
        self, inputs: Tensor, sizes: Sequence[int], hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the same so that no sequence depends on the others in the batch (see panels)."""
        states, bias = [filled(hidden), filled(cell)], self.gate_bias
        weights = self._transposed()
        outputs = []
        for span in _spans(sizes):
            below, inputs = inputs[: sum(span)], inputs[sum(span) :]
            gates = in_panels(lambda panel: linear(panel, self.input_weight, bias), below)
            outputs.append(self._run_span(gates, span, states, weights))
        last_hidden, last_cell = (state[: len(hidden)] for state in states)
        return torch.cat(outputs), last_hidden, last_cell

    def _run_span(
        self,
        gates: Tensor,
        sizes: Sequence[int],
        states: Sequence[Tensor],
        weights: tuple[Tensor, Tensor],
    ) -> Tensor:
        """Some steps of `run_panels`, which change the states; `gates` are before recurrence."""
        outputs = gates.new_empty(len(gates), states[0].shape[1])
        starts = [0, *accumulate(sizes)]
        for first in range(0, sizes[0], PANEL_ROWS):
            hidden, cell = (state[first : first + PANEL_ROWS] for state in states)
            for start, size in zip(starts, sizes, strict=False):
                num_rows = min(size - first, PANEL_ROWS)
                if num_rows <= 0:
                    break
                rows = slice(start + first, start + first + num_rows)
                summed = torch.addmm(filled(gates[rows]), hidden, weights[0])
                new_hidden, new_cell = self._step(summed, cell, weights[1])
                hidden[:num_rows], cell[:num_rows] = new_hidden[:num_rows], new_cell[:num_rows]
                outputs[rows] = hidden[:num_rows]
        return outputs

    def _run_steps(
        self, steps: Sequence[Tensor], hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Loop over the steps; `steps` are gates before recurrence."""
        recurrent, projection = self._transposed()
        outputs, ended = [], []
        for step in steps:
            if len(step) < len(hidden):
                ended.append((hidden[len(step) :], cell[len(step) :]))
                hidden, cell = hidden[: len(step)], cell[: len(step)]
            hidden, cell = self._step(torch.addmm(step, hidden, recurrent), cell, projection)
            outputs.append(hidden)
        last_hidden = torch.cat([hidden, *(rows for rows, _ in reversed(ended))])
        last_cell = torch.cat([cell, *(rows for _, rows in reversed(ended))])
        return torch.cat(outputs), last_hidden, last_cell

    def _transposed(self) -> tuple[Tensor, Tensor]:
        """Recurrent and projection weights for products with rows on the left."""
        # Small matrix products are up to three times faster on memory laid out in reading order.
        return self.recurrent_weight.t().contiguous(), self.projection_weight.t().contiguous()

    def _step(self, gates: Tensor, cell: Tensor, projection: Tensor) -> tuple[Tensor, Tensor]:
        new, candidate, forget, output = gates.chunk(4, dim=1)
        cell = forget.sigmoid() * cell + new.sigmoid() * candidate.tanh()
        cell_clip, projection_clip = self.clips
        if cell_clip is not None:
            cell = cell.clamp(-cell_clip, cell_clip)
        hidden = (output.sigmoid() * cell.tanh()) @ projection
        if projection_clip is not None:
            hidden = hidden.clamp(-projection_clip, projection_clip)
        return hidden, cell


class LstmStack(nn.Module):
    """The layers of one direction; with skip connections, all but the first add their input.

    The recurrent state is the output before the addition. Dropout is applied to the input of every
    layer, with a new mask per step, and the skip connection adds the dropped input, as in bilm-tf.
    """

    def __init__(
        self,
        hidden_dim: int,
        projection_dim: int,
        num_layers: int,
        cell_clip: int | float | None,
        projection_clip: int | float | None,
        skip_connections: bool,
        dropout: int | float,
    ) -> None:
        super().__init__()
        self.hidden_dim, self.projection_dim = hidden_dim, projection_dim
        self.skip_connections, self.dropout = skip_connections, dropout
        self.layers: list[LstmLayer] = nn.ModuleList(  # type: ignore[assignment]
            LstmLayer(projection_dim, hidden_dim, projection_dim, cell_clip, projection_clip)
            for _ in range(num_layers)
        )

    def new_state(self, batch_size: int) -> State:
        """The zero state from which a sequence starts."""
        like = self.layers[0].bias
        num_layers = len(self.layers)
        hidden = like.new_zeros(num_layers, batch_size, self.projection_dim)
        return hidden, like.new_zeros(num_layers, batch_size, self.hidden_dim)

    def run(
        self, inputs: Float[Tensor, "row dim"], sizes: Sequence[int], state: State
    ) -> tuple[list[Float[Tensor, "row dim"]], State]:
        """Run packed sequences; return each layer's packed outputs and the last states."""
        return run_stacks([self], [inputs], sizes, [state])[0]

    def forward(
        self,
        inputs: Float[Tensor, "batch time dim"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "layer batch time dim"], State]:
        """Run padded sequences from `state`, or from zeros; outputs in the padding are zero."""
        batch_size, num_steps, dim = inputs.shape
        state = state or self.new_state(batch_size)
        if lengths is None:
            packed = inputs.transpose(0, 1).reshape(-1, dim)
            outputs, state = self.run(packed, [batch_size] * num_steps, state)
            stacked = torch.stack(outputs).unflatten(1, (num_steps, batch_size))
            return stacked.transpose(1, 2), state
        order = lengths.argsort(descending=True, stable=True)
        rows, steps, sizes = pack_order(lengths[order].tolist(), inputs.device)
        rows = order[rows]
        outputs, state = self.run(
            inputs[rows, steps], sizes, (state[0][:, order], state[1][:, order])
        )
        padded = outputs[0].new_zeros(len(outputs), batch_size, num_steps, dim)
        padded[:, rows, steps] = torch.stack(outputs)
        back = order.argsort()
        return padded, (state[0][:, back], state[1][:, back])


def run_stacks(
    stacks: Sequence[LstmStack],
    inputs: Sequence[Float[Tensor, "row dim"]],
    sizes: Sequence[int],
    states: Sequence[State],
    apart: bool = False,
) -> list[tuple[list[Float[Tensor, "row dim"]], State]]:
    """Run stacks of the same depth at once, each on its own packed sequences of the same lengths.

    With `apart`, no sequence's frozen layers depend on the others in the batch, on the CPU.
    Return each layer's packed outputs and the last states, for every stack.
    """
    layers: list[list[Tensor]] = [[] for _ in stacks]
    lasts: list[list[tuple[Tensor, Tensor]]] = [[] for _ in stacks]
    for number in range(len(stacks[0].layers)):
        inputs = [
            dropout(below, stack.dropout, stack.training)
            for stack, below in zip(stacks, inputs, strict=True)
        ]
        results = run_together(
            [stack.layers[number] for stack in stacks],
            inputs,
            sizes,
            [(hidden[number], cell[number]) for hidden, cell in states],
            apart,
        )
        inputs = [
            outputs + below if stack.skip_connections and number else outputs
            for stack, below, (outputs, _, _) in zip(stacks, inputs, results, strict=True)
        ]
        for direction, (_, *last) in enumerate(results):
            layers[direction].append(inputs[direction])
            lasts[direction].append((last[0], last[1]))
    return [
        (outputs, (torch.stack([h for h, _ in last]), torch.stack([c for _, c in last])))
        for outputs, last in zip(layers, lasts, strict=True)
    ]


def run_together(
    layers: Sequence[LstmLayer],
    inputs: Sequence[Tensor],
    sizes: Sequence[int],
    states: Sequence[tuple[Tensor, Tensor]],
    apart: bool = False,
) -> Sequence[tuple[Tensor, Tensor, Tensor]]:
    """Run one layer of each stack: at once in compiled code or on a GPU, or one by one."""
    given = list(zip(layers, inputs, states, strict=True))
    operands = [layer.operands(below, *state) for layer, below, state in given]
    kernel = load_kernel() if fits(*inputs) else None
    if kernel is None:
        if inputs[0].device.type != "cpu":
            return run_batched(operands, sizes, *layers[0].bounds)
        apart = apart and not torch.is_grad_enabled()
        run = LstmLayer.run_panels if apart else LstmLayer.run_plain
        return [run(layer, below, sizes, *state) for layer, below, state in given]
    return run_layers(kernel, [layer.reading(sizes) for layer in layers], operands)


def _spans(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Cut the steps into runs of at most SPAN_ROWS rows, or of one step."""
    span: list[int] = []
    for size in sizes:
        if span and sum(span) + size > SPAN_ROWS:
            yield span
            span = []
        span.append(size)
    yield span


def pack_order(
    lengths: Sequence[int], device: torch.device
) -> tuple[Int[Tensor, " row"], Int[Tensor, " row"], list[int]]:
    """Sequence and step of each packed row, and rows per step, for descending lengths."""
    active = torch.arange(lengths[0])[:, None] < torch.tensor(lengths)[None, :]  # (time, batch)
    steps, sequences = active.nonzero(as_tuple=True)
    return sequences.to(device), steps.to(device), active.sum(dim=1).tolist()
