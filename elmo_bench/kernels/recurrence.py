"""Recurrent layers over packed sequences, with all their steps in compiled code.

Rows are sorted by step, and in each step the longest sequences come first.
"""

import ctypes
from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo_bench.kernels.compiled import Kernel, address

CELLS = ("clipped", "highway", "coupled", "gated")  # numbered as in recurrence.cpp


class Reading(NamedTuple):
    """How a layer reads its sequences; infinity means no clip."""

    cell: str
    sizes: Sequence[int]  # rows of each step
    backwards: bool = False
    cell_clip: float = inf
    output_clip: float = inf


class Operands(NamedTuple):
    """The tensors of one layer; projection and mask are optional."""

    inputs: Tensor  # (row, dim)
    input_weight: Tensor  # (gate, dim)
    bias: Tensor  # (gate)
    recurrent_weight: Tensor  # (recurrent gate, output)
    projection_weight: Tensor | None  # (output, unit)
    first_output: Tensor  # (sequence, output)
    first_cell: Tensor  # (sequence, unit)
    mask: Tensor | None = None  # (sequence, output): factor of the output that is fed back


class Result(NamedTuple):
    """Outputs of all rows, and the last states of all sequences."""

    outputs: Tensor
    last_output: Tensor
    last_cell: Tensor


_COUNTS = (
    *("cell", "num_steps", "num_sequences", "num_rows", "input_dim", "units", "output_dim"),
    *("backwards", "keep"),
)
_TENSORS = (
    *("inputs", "bias", "first_output", "first_cell", "mask"),
    *("input_weight", "recurrent_weight", "projection_weight"),
    *("gates", "cells", "activations", "fed_back", "outputs", "last_output", "last_cell"),
)
_KEPT = ("gates", "cells", "activations", "fed_back")


class _Layer(ctypes.Structure):
    """`struct Layer` of recurrence.cpp."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in _COUNTS),
        *((name, ctypes.c_float) for name in ("cell_clip", "output_clip")),
        *((name, ctypes.c_void_p) for name in ("sizes", *_TENSORS)),
    )


class _Gradients(ctypes.Structure):
    """`struct Gradients` of recurrence.cpp."""

    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in (
            *("d_outputs", "input_weight", "recurrent_weight", "projection_weight"),
            *("d_total", "d_activations", "d_output", "d_cell", "d_inputs", "d_input_weight"),
            *("d_bias", "d_recurrent_weight", "d_projection_weight"),
            *("packed_inputs", "packed_fed_back", "packed_activations"),
        )
    )


Tensors = dict[str, Tensor | None]


def run_layers(
    kernel: Kernel, readings: Sequence[Reading], operands: Sequence[Operands]
) -> list[Result]:
    """Run layers with the same kind of cell at once, each on its share of the threads."""
    flat = [tensor for layer in operands for tensor in layer]
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in flat):
        results = _Layers.apply(kernel, readings, *flat)
        return [Result(*results[start : start + 3]) for start in range(0, len(results), 3)]
    layers = _run(kernel, readings, operands, keep=False)
    return [Result(*(layer[name] for name in Result._fields)) for layer in layers]  # type: ignore[arg-type]


class _Layers(torch.autograd.Function):
    """The operands of all layers -> the results of all layers."""

    @staticmethod
    def forward(
        ctx: Any, kernel: Kernel, readings: Sequence[Reading], *tensors: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        layers = _run(kernel, readings, _by_layer(tensors), keep=True)
        ctx.save_for_backward(*tensors, *(layer["outputs"] for layer in layers))
        ctx.kept = [{name: layer[name] for name in _KEPT} for layer in layers]
        ctx.settings = kernel, readings
        return tuple(layer[name] for layer in layers for name in Result._fields)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        if ctx.kept is None:
            raise RuntimeError(
                "the LSTM's gradients were already computed; backward can run only once."
            )
        kernel, readings = ctx.settings
        tensors, outputs = ctx.saved_tensors[: -len(readings)], ctx.saved_tensors[-len(readings) :]
        layers: list[Tensors] = []
        every: list[Tensors] = []
        for number, (operands, kept) in enumerate(zip(_by_layer(tensors), ctx.kept, strict=True)):
            layers.append({**_contiguous(operands), **kept, "outputs": outputs[number]})
            given = gradients[3 * number : 3 * number + 3]
            every.append(_new_gradients(kernel, operands, given))
            if not ctx.needs_input_grad[2 + number * len(operands)]:
                every[-1]["d_inputs"] = None
        ctx.kept = None
        structures = [_structure(*layer, keep=True) for layer in zip(readings, layers, strict=True)]
        pointers = (_Gradients * len(every))(*(_Gradients(**_addresses(d)) for d in every))
        kernel.library.recurrence_backward(
            *((_Layer * len(layers))(*structures), pointers, len(layers), torch.get_num_threads())
        )
        names = [f"d_{name}" for name in ("inputs", "input_weight", "bias", "recurrent_weight")]
        names += ["d_projection_weight", "d_output", "d_cell"]
        return (None, None, *(d for layer in every for d in (*map(layer.get, names), None)))


def _run(
    kernel: Kernel, readings: Sequence[Reading], operands: Sequence[Operands], keep: bool
) -> list[Tensors]:
    """Run the layers forward; return all tensors that each `struct Layer` refers to."""
    library, threads = kernel.library, torch.get_num_threads()
    buffer_rows = library.max_parts(len(readings), threads) * library.block_rows()
    layers, structures = [], []
    for reading, given in zip(readings, operands, strict=True):
        layer = _contiguous(given) | _packed(kernel, given, transpose=True)
        rows, sequences = len(given.inputs), len(given.first_output)
        kept = rows if keep else sequences
        new, units = given.inputs.new_empty, given.first_cell.shape[1]
        layer["gates"] = new(rows if keep else buffer_rows + sequences, len(given.bias))
        layer["cells"] = new(kept, units)
        layer["activations"] = None if given.projection_weight is None else new(kept, units)
        layer["fed_back"] = new(kept, given.first_output.shape[1])
        layer["outputs"] = new(rows, given.first_output.shape[1])
        layer["last_output"], layer["last_cell"] = (
            new(given.first_output.shape),
            new(sequences, units),
        )
        layers.append(layer)
        structures.append(_structure(reading, layer, keep))
    library.recurrence_forward((_Layer * len(layers))(*structures), len(layers), threads)
    return layers


def _new_gradients(kernel: Kernel, operands: Operands, given: Sequence[Tensor]) -> Tensors:
    """All tensors that `struct Gradients` refers to."""
    rows, projection = len(operands.inputs), operands.projection_weight
    new = operands.inputs.new_empty

    def packed(matrix_columns: int) -> Tensor:
        return new(kernel.library.packed_size(rows, matrix_columns))

    output_dim, units = operands.first_output.shape[1], operands.first_cell.shape[1]
    return {
        **_packed(kernel, operands, transpose=False),
        "d_outputs": given[0].contiguous(),
        "d_output": given[1].clone(memory_format=torch.contiguous_format),
        "d_cell": given[2].clone(memory_format=torch.contiguous_format),
        "d_total": new(rows, output_dim),
        "d_activations": None if projection is None else new(len(operands.first_cell), units),
        "d_inputs": new(operands.inputs.shape),
        "d_input_weight": new(operands.input_weight.shape),
        "d_bias": new(operands.bias.shape),
        "d_recurrent_weight": new(operands.recurrent_weight.shape),
        "d_projection_weight": None if projection is None else new(projection.shape),
        "packed_inputs": packed(operands.inputs.shape[1]),
        "packed_fed_back": packed(output_dim),
        "packed_activations": None if projection is None else packed(units),
    }


def _by_layer(tensors: Sequence[Tensor | None]) -> list[Operands]:
    size = len(Operands._fields)
    starts = range(0, len(tensors), size)
    return [Operands(*tensors[start : start + size]) for start in starts]  # type: ignore[arg-type]


def _contiguous(operands: Operands) -> Tensors:
    return {
        name: None if tensor is None else tensor.contiguous()
        for name, tensor in operands._asdict().items()
    }


def _packed(kernel: Kernel, operands: Operands, transpose: bool) -> Tensors:
    names = ("input_weight", "recurrent_weight", "projection_weight")
    weights = {name: getattr(operands, name) for name in names}
    return {
        name: None if weight is None else kernel.pack(weight, transpose)
        for name, weight in weights.items()
    }


def _structure(reading: Reading, layer: Tensors, keep: bool) -> _Layer:
    inputs, first_output, first_cell = (
        layer[name] for name in ("inputs", "first_output", "first_cell")
    )
    assert inputs is not None and first_output is not None and first_cell is not None
    sizes = torch.tensor(reading.sizes, dtype=torch.int64)
    layer["sizes"] = sizes  # keeps it in memory
    counts = (CELLS.index(reading.cell), len(sizes), len(first_output), *inputs.shape)
    counts += (first_cell.shape[1], first_output.shape[1], reading.backwards, keep)
    return _Layer(
        **dict(zip(_COUNTS, counts, strict=True)),
        cell_clip=reading.cell_clip,
        output_clip=reading.output_clip,
        **_addresses({name: layer.get(name) for name in ("sizes", *_TENSORS)}),
    )


def _addresses(tensors: Tensors) -> dict[str, int | None]:
    return {name: address(tensor) for name, tensor in tensors.items()}
