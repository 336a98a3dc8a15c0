"""A random biLM in the layout of bilm-tf, and its layers in NumPy, straight from those arrays."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

OPTIONS: dict[str, Any] = {
    "lstm": {
        "cell_clip": 3, "proj_clip": 3, "use_skip_connections": False, "n_layers": 2,
        "projection_dim": 16, "dim": 64,
    },
    "char_cnn": {
        "embedding": {"dim": 4}, "filters": [[1, 4], [2, 8], [3, 16], [4, 32], [5, 64]],
        "n_highway": 2, "n_characters": 262, "max_characters_per_token": 50, "activation": "relu",
    },
}  # fmt: skip
BOS, EOS, WORD_BEGIN, WORD_END, PADDING = range(256, 261)  # characters after the 256 bytes


def write_official(folder: Path) -> tuple[Path, Path]:
    """Write options.json and lm_weights.hdf5 with random numbers, the same with every call."""
    options, weights = folder / "options.json", folder / "lm_weights.hdf5"
    options.write_text(json.dumps(OPTIONS))
    generator = np.random.default_rng(1)
    with h5py.File(weights, "w") as file:
        for name, shape in _shapes().items():
            file[name] = generator.normal(0, 0.15, shape).astype(np.float32)
    return options, weights


def _shapes() -> dict[str, tuple[int, ...]]:
    lstm, cnn = OPTIONS["lstm"], OPTIONS["char_cnn"]
    chars, dim, out = cnn["embedding"]["dim"], lstm["dim"], lstm["projection_dim"]
    features = sum(number for _, number in cnn["filters"])
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (PADDING + 1, chars)}
    for index, (width, number) in enumerate(cnn["filters"]):
        shapes |= {f"CNN/W_cnn_{index}": (1, width, chars, number), f"CNN/b_cnn_{index}": (number,)}
    for index in range(cnn["n_highway"]):
        for gate in ("carry", "transform"):
            shapes[f"CNN_high_{index}/W_{gate}"] = (features, features)
            shapes[f"CNN_high_{index}/b_{gate}"] = (features,)
    shapes |= {"CNN_proj/W_proj": (features, out), "CNN_proj/b_proj": (out,)}
    for direction in (0, 1):
        for layer in range(lstm["n_layers"]):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            shapes[f"{cell}/W_0"] = (2 * out, 4 * dim)
            shapes[f"{cell}/B"] = (4 * dim,)
            shapes[f"{cell}/W_P_0"] = (dim, out)
    return shapes


def official_layers(weights: Path, sentences: list[list[str]], carry: bool) -> list[np.ndarray]:
    """The layers (layer, time, dim) of each sentence, with BOS and EOS cut off."""
    file = h5py.File(weights)
    states: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    results = []
    for sentence in sentences:
        spelled = [[BOS], *(list(word.encode()) for word in sentence), [EOS]]
        tokens = np.stack([_token(file, characters) for characters in spelled])
        layers = [np.concatenate([tokens, tokens], axis=1)]
        ahead, back = tokens, tokens[::-1]
        for number in range(OPTIONS["lstm"]["n_layers"]):
            ahead = _lstm(file, 0, number, ahead, states if carry else {})
            back = _lstm(file, 1, number, back, states if carry else {})
            layers.append(np.concatenate([ahead, back[::-1]], axis=1))
        results.append(np.stack(layers)[:, 1:-1])
    return results


def _token(file: h5py.File, characters: list[int]) -> np.ndarray:
    cnn = OPTIONS["char_cnn"]
    size = cnn["max_characters_per_token"]
    ids = [WORD_BEGIN, *characters[: size - 2], WORD_END]
    chars = file["char_embed"][()][ids + [PADDING] * (size - len(ids))]
    maxima = []
    for index, (width, _) in enumerate(cnn["filters"]):
        kernel, bias = file[f"CNN/W_cnn_{index}"][0], file[f"CNN/b_cnn_{index}"][()]
        windows = [chars[start : start + width] for start in range(size - width + 1)]
        found = [np.einsum("wc,wcn->n", window, kernel) for window in windows]
        maxima.append(np.maximum(np.max(found, axis=0) + bias, 0))
    x = np.concatenate(maxima)
    for index in range(cnn["n_highway"]):
        group = file[f"CNN_high_{index}"]
        carry = _sigmoid(x @ group["W_carry"][()] + group["b_carry"][()])
        new = np.maximum(x @ group["W_transform"][()] + group["b_transform"][()], 0)
        x = carry * new + (1 - carry) * x
    return x @ file["CNN_proj/W_proj"][()] + file["CNN_proj/b_proj"][()]


def _lstm(
    file: h5py.File,
    direction: int,
    layer: int,
    inputs: np.ndarray,
    states: dict[str, tuple[np.ndarray, np.ndarray]],
) -> np.ndarray:
    """TensorFlow's LSTM cell: gates in the order input, new, forget, output; a forget bias of 1."""
    lstm = OPTIONS["lstm"]
    name = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
    kernel, bias, projection = (file[f"{name}/{part}"][()] for part in ("W_0", "B", "W_P_0"))
    zero = (np.zeros(lstm["projection_dim"]), np.zeros(lstm["dim"]))
    hidden, cell = states.get(name, zero)
    outputs = []
    for x in inputs:
        new, candidate, forget, output = np.split(np.concatenate([x, hidden]) @ kernel + bias, 4)
        cell = _sigmoid(forget + 1) * cell + _sigmoid(new) * np.tanh(candidate)
        cell = np.clip(cell, -lstm["cell_clip"], lstm["cell_clip"])
        hidden = _sigmoid(output) * np.tanh(cell) @ projection
        hidden = np.clip(hidden, -lstm["proj_clip"], lstm["proj_clip"])
        outputs.append(hidden)
    states[name] = (hidden, cell)
    return np.stack(outputs)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))
