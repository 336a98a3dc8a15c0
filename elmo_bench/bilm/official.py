"""Official weights: bilm-tf's options.json and HDF5 file, read and written in their exact layout.

Both formats order the gates i, j, f, o and neither stores the forget bias, so tensors are only
sliced, transposed and reshaped, and a round trip is bit-exact.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from torch import Tensor

from elmo_bench.bilm.characters import NUM_CHARS
from elmo_bench.config.bilm_settings import Architecture, CharCnnSettings
from elmo_bench.config.compose import validated
from elmo_bench.config.errors import ConfigError
from elmo_bench.data.files import DataError
from elmo_bench.errors import UserError
from elmo_bench.records.atomic import replace_file
from elmo_bench.records.reading import read_object, reading

Arrays = dict[str, np.ndarray]

_CELL = "RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
_STACKS = ("forward_lstm", "backward_lstm")


def find_official_files(folder: Path) -> tuple[Path, Path] | None:
    """The *options.json and the *weights.hdf5 of a folder that has one of each."""
    options, weights = list(folder.glob("*options.json")), list(folder.glob("*weights.hdf5"))
    return (options[0], weights[0]) if len(options) == len(weights) == 1 else None


def read_options(path: Path) -> Architecture:
    """Read an options.json as the architecture of a biLM."""
    options = read_object(path)
    try:
        lstm, cnn = options["lstm"], options["char_cnn"]
        if cnn["n_characters"] not in (NUM_CHARS, NUM_CHARS + 1):
            problem = f"char_cnn.n_characters is {cnn['n_characters']}; it must be 261 or 262"
            raise DataError(path, None, problem)
        encoder = {
            "kind": "char_cnn",
            "char_dim": cnn["embedding"]["dim"],
            "filters": cnn["filters"],
            "num_highways": cnn.get("n_highway") or 0,
            "activation": cnn["activation"],
            "max_chars": cnn["max_characters_per_token"],
        }
        stack = {
            "hidden_dim": lstm["dim"],
            "projection_dim": lstm["projection_dim"],
            "num_layers": lstm["n_layers"],
            "cell_clip": lstm["cell_clip"],
            "projection_clip": lstm["proj_clip"],
            "skip_connections": lstm["use_skip_connections"],
            "dropout": options.get("dropout", 0.1),
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(path, None, f"lacks the option {error}") from error
    values = {"name": path.stem, "encoder": encoder, "lstm": stack}
    try:
        return validated(Architecture, values)
    except ConfigError as error:
        raise DataError(path, None, str(error)) from error


def options_of(architecture: Architecture) -> dict[str, Any]:
    """The options.json of a biLM, with the 262 characters that bilm-tf and AllenNLP expect."""
    encoder, lstm = _char_cnn(architecture), architecture.lstm
    return {
        "lstm": {
            "dim": lstm.hidden_dim,
            "projection_dim": lstm.projection_dim,
            "n_layers": lstm.num_layers,
            "cell_clip": lstm.cell_clip,
            "proj_clip": lstm.projection_clip,
            "use_skip_connections": lstm.skip_connections,
        },
        "char_cnn": {
            "embedding": {"dim": encoder.char_dim},
            "filters": encoder.filters,
            "n_highway": encoder.num_highways,
            "n_characters": NUM_CHARS + 1,
            "max_characters_per_token": encoder.max_chars,
            "activation": encoder.activation,
        },
    }


def _char_cnn(architecture: Architecture) -> CharCnnSettings:
    if isinstance(architecture.encoder, CharCnnSettings):
        return architecture.encoder
    raise UserError(
        f"biLM {architecture.name!r} has the encoder {architecture.encoder.kind!r}; "
        "the official format supports only char_cnn."
    )


def expected_shapes(architecture: Architecture) -> dict[str, tuple[int, ...]]:
    """Name and shape of every dataset in the HDF5 file of a biLM."""
    encoder, lstm = _char_cnn(architecture), architecture.lstm
    char_dim, filters = encoder.char_dim, encoder.filters
    hidden, projected = lstm.hidden_dim, lstm.projection_dim
    filter_dim = sum(number for _, number in filters)
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (NUM_CHARS, char_dim)}
    for index, (width, number) in enumerate(filters):
        shapes[f"CNN/W_cnn_{index}"] = (1, width, char_dim, number)
        shapes[f"CNN/b_cnn_{index}"] = (number,)
    for index in range(encoder.num_highways):
        for gate in ("carry", "transform"):
            shapes[f"CNN_high_{index}/W_{gate}"] = (filter_dim, filter_dim)
            shapes[f"CNN_high_{index}/b_{gate}"] = (filter_dim,)
    if filter_dim != projected:
        shapes["CNN_proj/W_proj"] = (filter_dim, projected)
        shapes["CNN_proj/b_proj"] = (projected,)
    for _, cell, _ in _cells(lstm.num_layers):
        shapes[f"{cell}/W_0"] = (2 * projected, 4 * hidden)
        shapes[f"{cell}/B"] = (4 * hidden,)
        shapes[f"{cell}/W_P_0"] = (hidden, projected)
    return shapes


def read_arrays(path: Path, architecture: Architecture) -> Arrays:
    """All datasets of an official HDF5 file, each checked against the options."""
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise DataError(path, None, f"cannot be read as HDF5; is it complete? ({error})") from error
    expected = expected_shapes(architecture)
    needed, size = sum(map(math.prod, expected.values())), path.stat().st_size
    if needed > 20 * size:  # compressed weights are a third smaller at most
        problem = f"has {size:,} bytes, but the options imply {needed:,} numbers"
        raise DataError(path, None, problem)
    with file, reading(path):
        return {name: _read_array(path, file, name, shape) for name, shape in expected.items()}


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Write an official HDF5 file atomically."""
    with replace_file(path) as unfinished, h5py.File(unfinished, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array)


def to_state(arrays: Arrays, architecture: Architecture) -> dict[str, Tensor]:
    """The state dict of a BiLm from official arrays."""
    encoder = _char_cnn(architecture)
    state = {"encoder.chars": arrays["char_embed"]}
    biases = []
    for index, (_, number) in enumerate(encoder.filters):
        state[f"encoder.kernels.{index}"] = arrays[f"CNN/W_cnn_{index}"].reshape(-1, number).T
        biases.append(arrays[f"CNN/b_cnn_{index}"])
    state["encoder.bias"] = np.concatenate(biases)
    for index in range(encoder.num_highways):
        for gate in ("carry", "transform"):
            place = f"encoder.highways.{index}.{gate}"
            state[f"{place}.weight"] = arrays[f"CNN_high_{index}/W_{gate}"].T
            state[f"{place}.bias"] = arrays[f"CNN_high_{index}/b_{gate}"]
    if "CNN_proj/W_proj" in arrays:
        state["encoder.projection.weight"] = arrays["CNN_proj/W_proj"].T
        state["encoder.projection.bias"] = arrays["CNN_proj/b_proj"]
    input_dim = architecture.lstm.projection_dim
    for stack, cell, layer in _cells(architecture.lstm.num_layers):
        place = f"{stack}.layers.{layer}"
        state[f"{place}.input_weight"] = arrays[f"{cell}/W_0"][:input_dim].T
        state[f"{place}.recurrent_weight"] = arrays[f"{cell}/W_0"][input_dim:].T
        state[f"{place}.bias"] = arrays[f"{cell}/B"]
        state[f"{place}.projection_weight"] = arrays[f"{cell}/W_P_0"].T
    return {key: torch.from_numpy(np.ascontiguousarray(array)) for key, array in state.items()}


def to_arrays(state: Mapping[str, Tensor], architecture: Architecture) -> Arrays:
    """Official arrays from the state dict of a BiLm."""
    encoder = _char_cnn(architecture)
    tensors = {key: tensor.detach().cpu().float().numpy() for key, tensor in state.items()}
    arrays = {"char_embed": tensors["encoder.chars"]}
    start = 0
    for index, (width, number) in enumerate(encoder.filters):
        kernel = tensors[f"encoder.kernels.{index}"].T
        arrays[f"CNN/W_cnn_{index}"] = kernel.reshape(1, width, encoder.char_dim, number)
        arrays[f"CNN/b_cnn_{index}"] = tensors["encoder.bias"][start : start + number]
        start += number
    for index in range(encoder.num_highways):
        for gate in ("carry", "transform"):
            place = f"encoder.highways.{index}.{gate}"
            arrays[f"CNN_high_{index}/W_{gate}"] = tensors[f"{place}.weight"].T
            arrays[f"CNN_high_{index}/b_{gate}"] = tensors[f"{place}.bias"]
    if "encoder.projection.weight" in tensors:
        arrays["CNN_proj/W_proj"] = tensors["encoder.projection.weight"].T
        arrays["CNN_proj/b_proj"] = tensors["encoder.projection.bias"]
    for stack, cell, layer in _cells(architecture.lstm.num_layers):
        place = f"{stack}.layers.{layer}"
        weights = (tensors[f"{place}.input_weight"].T, tensors[f"{place}.recurrent_weight"].T)
        arrays[f"{cell}/W_0"] = np.concatenate(weights)
        arrays[f"{cell}/B"] = tensors[f"{place}.bias"]
        arrays[f"{cell}/W_P_0"] = tensors[f"{place}.projection_weight"].T
    return arrays


def _cells(num_layers: int) -> Iterator[tuple[str, str, int]]:
    """Yield our stack's name, the official cell's name and the layer's index for every layer."""
    for direction, stack in enumerate(_STACKS):
        for layer in range(num_layers):
            yield stack, _CELL.format(direction=direction, layer=layer), layer


def _is_inside(file: h5py.File, name: str) -> bool:
    """Whether nothing on the way to a dataset is a link, which could lead into another file."""
    parts = name.split("/")
    names = ["/".join(parts[:number]) for number in range(1, len(parts) + 1)]
    return all(isinstance(file.get(part, getlink=True), h5py.HardLink) for part in names)


def _read_array(path: Path, file: h5py.File, name: str, shape: tuple[int, ...]) -> np.ndarray:
    dataset = file.get(name) if _is_inside(file, name) else None
    if not isinstance(dataset, h5py.Dataset) or dataset.is_virtual or dataset.external:
        raise DataError(path, None, f"the dataset {name} is missing, or is in another file")
    if dataset.dtype.kind not in "fiu":
        raise DataError(path, None, f"the dataset {name} has no numbers but {dataset.dtype}")
    found = tuple(dataset.shape)
    # Some writers store the row of the padding character, the 262nd, first.
    with_padding = name == "char_embed" and found == (shape[0] + 1, *shape[1:])
    if found != shape and not with_padding:
        problem = f"the dataset {name} has shape {found}, but the options imply {shape}"
        raise DataError(path, None, problem)
    try:
        array = np.asarray(dataset[()], dtype=np.float32)
    except (OSError, ValueError) as error:
        raise DataError(path, None, f"the dataset {name} cannot be read ({error})") from error
    return array[1:] if with_padding else array
