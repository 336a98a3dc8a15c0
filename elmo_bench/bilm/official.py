"""Official weights: bilm-tf's options.json and hdf5 file, read and written in their exact layout.

Gates stand in the order i, j, f, o in both worlds and the forget bias is stored in neither, so
tensors are only cut, turned and reshaped, and come back bit for bit.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from torch import Tensor

from elmo_bench.bilm.characters import NUM_CHARS
from elmo_bench.data.files import DataError
from elmo_bench.records.files import replace_file

Arrays = dict[str, np.ndarray]

_CELL = "RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
_STACKS = ("forward_lstm", "backward_lstm")


def find_official_files(folder: Path) -> tuple[Path, Path] | None:
    """The *options.json and the *weights.hdf5 of a folder that has one of each."""
    options, weights = list(folder.glob("*options.json")), list(folder.glob("*weights.hdf5"))
    return (options[0], weights[0]) if len(options) == len(weights) == 1 else None


def read_options(path: Path) -> dict[str, Any]:
    """The arguments of BiLm() that an options.json stands for."""
    try:
        options = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(path, None, f"is no JSON ({error})") from error
    try:
        lstm, cnn = options["lstm"], options["char_cnn"]
        if cnn["n_characters"] not in (NUM_CHARS, NUM_CHARS + 1):
            problem = f"char_cnn.n_characters is {cnn['n_characters']}; it can be 261 or 262"
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
    except (KeyError, TypeError) as error:
        raise DataError(path, None, f"lacks the option {error}") from error
    return {"name": path.stem, "encoder": encoder, "lstm": stack}


def options_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The options.json of a biLM, with the 262 characters that bilm-tf and AllenNLP expect."""
    encoder, lstm = config["encoder"], config["lstm"]
    if encoder["kind"] != "char_cnn":
        raise ValueError(
            f"biLM {config['name']!r} has the encoder {encoder['kind']!r}; "
            "the official format only knows char_cnn."
        )
    return {
        "lstm": {
            "dim": lstm["hidden_dim"],
            "projection_dim": lstm["projection_dim"],
            "n_layers": lstm["num_layers"],
            "cell_clip": lstm["cell_clip"],
            "proj_clip": lstm["projection_clip"],
            "use_skip_connections": lstm["skip_connections"],
        },
        "char_cnn": {
            "embedding": {"dim": encoder["char_dim"]},
            "filters": [list(pair) for pair in encoder["filters"]],
            "n_highway": encoder["num_highways"],
            "n_characters": NUM_CHARS + 1,
            "max_characters_per_token": encoder["max_chars"],
            "activation": encoder["activation"],
        },
    }


def expected_shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Every dataset of the hdf5 file of such a biLM, with its shape."""
    encoder, lstm = config["encoder"], config["lstm"]
    char_dim, filters = encoder["char_dim"], encoder["filters"]
    hidden, projected = lstm["hidden_dim"], lstm["projection_dim"]
    filter_dim = sum(number for _, number in filters)
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (NUM_CHARS, char_dim)}
    for index, (width, number) in enumerate(filters):
        shapes[f"CNN/W_cnn_{index}"] = (1, width, char_dim, number)
        shapes[f"CNN/b_cnn_{index}"] = (number,)
    for index in range(encoder["num_highways"]):
        for gate in ("carry", "transform"):
            shapes[f"CNN_high_{index}/W_{gate}"] = (filter_dim, filter_dim)
            shapes[f"CNN_high_{index}/b_{gate}"] = (filter_dim,)
    if filter_dim != projected:
        shapes["CNN_proj/W_proj"] = (filter_dim, projected)
        shapes["CNN_proj/b_proj"] = (projected,)
    for _, cell, _ in _cells(lstm["num_layers"]):
        shapes[f"{cell}/W_0"] = (2 * projected, 4 * hidden)
        shapes[f"{cell}/B"] = (4 * hidden,)
        shapes[f"{cell}/W_P_0"] = (hidden, projected)
    return shapes


def read_arrays(path: Path, config: Mapping[str, Any]) -> Arrays:
    """All datasets of an official hdf5 file, each checked against the options."""
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise DataError(path, None, f"cannot be read as hdf5; is it whole? ({error})") from error
    with file:
        return {
            name: _read_array(path, file, name, shape)
            for name, shape in expected_shapes(config).items()
        }


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Write an official hdf5 file; it appears under its name only when it is whole."""
    with replace_file(path) as unfinished, h5py.File(unfinished, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array)


def to_state(arrays: Arrays, config: Mapping[str, Any]) -> dict[str, Tensor]:
    """The state dict of a BiLm from official arrays."""
    encoder = config["encoder"]
    state = {"encoder.chars": arrays["char_embed"]}
    biases = []
    for index, (_, number) in enumerate(encoder["filters"]):
        state[f"encoder.kernels.{index}"] = arrays[f"CNN/W_cnn_{index}"].reshape(-1, number).T
        biases.append(arrays[f"CNN/b_cnn_{index}"])
    state["encoder.bias"] = np.concatenate(biases)
    for index in range(encoder["num_highways"]):
        for gate in ("carry", "transform"):
            place = f"encoder.highways.{index}.{gate}"
            state[f"{place}.weight"] = arrays[f"CNN_high_{index}/W_{gate}"].T
            state[f"{place}.bias"] = arrays[f"CNN_high_{index}/b_{gate}"]
    if "CNN_proj/W_proj" in arrays:
        state["encoder.projection.weight"] = arrays["CNN_proj/W_proj"].T
        state["encoder.projection.bias"] = arrays["CNN_proj/b_proj"]
    input_dim = config["lstm"]["projection_dim"]
    for stack, cell, layer in _cells(config["lstm"]["num_layers"]):
        place = f"{stack}.layers.{layer}"
        state[f"{place}.input_weight"] = arrays[f"{cell}/W_0"][:input_dim].T
        state[f"{place}.recurrent_weight"] = arrays[f"{cell}/W_0"][input_dim:].T
        state[f"{place}.bias"] = arrays[f"{cell}/B"]
        state[f"{place}.projection_weight"] = arrays[f"{cell}/W_P_0"].T
    return {key: torch.from_numpy(np.ascontiguousarray(array)) for key, array in state.items()}


def to_arrays(state: Mapping[str, Tensor], config: Mapping[str, Any]) -> Arrays:
    """Official arrays from the state dict of a BiLm."""
    encoder = config["encoder"]
    tensors = {key: tensor.detach().cpu().float().numpy() for key, tensor in state.items()}
    arrays = {"char_embed": tensors["encoder.chars"]}
    start = 0
    for index, (width, number) in enumerate(encoder["filters"]):
        kernel = tensors[f"encoder.kernels.{index}"].T
        arrays[f"CNN/W_cnn_{index}"] = kernel.reshape(1, width, encoder["char_dim"], number)
        arrays[f"CNN/b_cnn_{index}"] = tensors["encoder.bias"][start : start + number]
        start += number
    for index in range(encoder["num_highways"]):
        for gate in ("carry", "transform"):
            place = f"encoder.highways.{index}.{gate}"
            arrays[f"CNN_high_{index}/W_{gate}"] = tensors[f"{place}.weight"].T
            arrays[f"CNN_high_{index}/b_{gate}"] = tensors[f"{place}.bias"]
    if "encoder.projection.weight" in tensors:
        arrays["CNN_proj/W_proj"] = tensors["encoder.projection.weight"].T
        arrays["CNN_proj/b_proj"] = tensors["encoder.projection.bias"]
    for stack, cell, layer in _cells(config["lstm"]["num_layers"]):
        place = f"{stack}.layers.{layer}"
        weights = (tensors[f"{place}.input_weight"].T, tensors[f"{place}.recurrent_weight"].T)
        arrays[f"{cell}/W_0"] = np.concatenate(weights)
        arrays[f"{cell}/B"] = tensors[f"{place}.bias"]
        arrays[f"{cell}/W_P_0"] = tensors[f"{place}.projection_weight"].T
    return arrays


def _cells(num_layers: int) -> Iterator[tuple[str, str, int]]:
    """Our stack's name, the official cell's name and the layer's number, for every layer."""
    for direction, stack in enumerate(_STACKS):
        for layer in range(num_layers):
            yield stack, _CELL.format(direction=direction, layer=layer), layer


def _read_array(path: Path, file: h5py.File, name: str, shape: tuple[int, ...]) -> np.ndarray:
    dataset = file.get(name)
    if not isinstance(dataset, h5py.Dataset):
        raise DataError(path, None, f"the dataset {name} is missing")
    found = tuple(dataset.shape)
    # Some writers keep the row of the padding character, the 262nd, in front.
    with_padding = name == "char_embed" and found == (shape[0] + 1, *shape[1:])
    if found != shape and not with_padding:
        problem = f"the dataset {name} has the shape {found}, but the options make it {shape}"
        raise DataError(path, None, problem)
    try:
        array = np.asarray(dataset[()], dtype=np.float32)
    except (OSError, ValueError) as error:
        raise DataError(path, None, f"the dataset {name} cannot be read ({error})") from error
    return array[1:] if with_padding else array
