"""A biLM on disk: a folder of text and safetensors files, read without unpickling anything.

config.yaml          the arguments of BiLm()
weights.safetensors  the model, in float32 or float16
vocabulary.txt       the softmax's words (and a word encoder's), one per line, if there are any
training.json        how it was trained
README.md            the model card
*.safetensors        further tensors saved by the training, such as the softmax
checksums.json       of all these but the card; files are compared with them when they are read
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import yaml
from omegaconf import OmegaConf
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from elmo_bench.config.bilm_settings import Architecture
from elmo_bench.config.compose import validated
from elmo_bench.config.errors import ConfigError
from elmo_bench.data.files import DataError, numbered_lines
from elmo_bench.errors import UserError
from elmo_bench.records.atomic import replace_folder
from elmo_bench.records.checksums import check_file, write_checksums
from elmo_bench.records.reading import read_bytes

MAX_CONFIG = 1 << 20  # bytes of config.yaml
REMEDY = (
    "copy it again, or pretrain it again with force=true (if it was changed on purpose, delete "
    "checksums.json beside it)"
)


def read_architecture(folder: Path) -> Architecture:
    """What a biLM is built from."""
    path = folder / "config.yaml"
    text = read_bytes(path, MAX_CONFIG)
    try:
        found = validated(Architecture, yaml.load(text, Loader=_PlainLoader))
    except ConfigError as error:
        raise DataError(path, None, str(error)) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = f"not readable YAML ({' '.join(str(error).split())})"
        raise DataError(path, None, problem) from error
    check_file(path, REMEDY)
    return found


class _PlainLoader(yaml.SafeLoader):
    """Reads plain values only; an alias could stand for more than the memory can hold."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not read")
        return super().compose_node(parent, index)


def check_size(architecture: Architecture, weights: Path) -> None:
    """Refuse a model that its weights cannot fill, before memory is taken for it."""
    size, needed = weights.stat().st_size, 2 * architecture.min_parameters()  # in half precision
    if needed > size:
        problem = f"has {size:,} bytes, but the model of its config.yaml takes at least {needed:,}"
        raise DataError(weights, None, problem)


def read_vocabulary(folder: Path) -> list[str] | None:
    """The words of vocabulary.txt in order, or None if there is no such file."""
    path = folder / "vocabulary.txt"
    check_file(path, REMEDY)
    return [line for _, line in numbered_lines(path)] if path.exists() else None


def read_tensors(path: Path) -> dict[str, Tensor]:
    """All tensors of a safetensors file; those stored as float16 are converted to float32."""
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError, KeyError, RuntimeError, ValueError, OverflowError) as error:
        raise DataError(path, None, f"cannot be read as safetensors ({error})") from error
    check_file(path, REMEDY)
    for key, tensor in tensors.items():
        if not tensor.is_floating_point() or tensor.dtype.itemsize < 2:
            raise DataError(path, None, f"{key} has values of the type {tensor.dtype}")
        if not torch.isfinite(tensor).all():
            raise DataError(path, None, f"{key} has values that are not finite numbers")
    return {k: t.float() if t.dtype == torch.float16 else t for k, t in tensors.items()}


def load_tensors(module: torch.nn.Module, path: Path) -> None:
    """Load a module from a safetensors file; the error names the first tensor that does not fit."""
    tensors, expected = read_tensors(path), module.state_dict()
    for key in expected.keys() | tensors.keys():
        found = tuple(tensors[key].shape) if key in tensors else "missing"
        wanted = tuple(expected[key].shape) if key in expected else "unknown"
        if found != wanted:
            raise DataError(path, None, f"{key} is {found}, but its config.yaml makes it {wanted}")
    module.load_state_dict(tensors)


def write_folder(
    folder: Path,
    architecture: Architecture,
    tensors: Mapping[str, Mapping[str, Tensor]],
    vocabulary: Sequence[str] | None,
    record: Mapping[str, Any],
    card: str,
    dtype: torch.dtype,
) -> None:
    """Write a checkpoint folder in full or not at all, replacing an older one.

    `tensors` maps file names without suffix to state dicts; "weights" is the model.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / "config.yaml").exists():
        raise UserError(f"{folder} has files but is no biLM folder; it is left as it is.")
    with replace_folder(folder) as new:
        OmegaConf.save(OmegaConf.create(architecture.plain()), new / "config.yaml")
        for name, group in tensors.items():
            try:
                save_file(_stored(group, dtype), new / f"{name}.safetensors")
            except SafetensorError as error:  # as of a full disk
                raise OSError(f"{folder / name}.safetensors cannot be written: {error}") from error
        if vocabulary is not None:
            _write_vocabulary(new / "vocabulary.txt", vocabulary)
        text = json.dumps(record, indent=2, ensure_ascii=False)
        (new / "training.json").write_text(text + "\n", encoding="utf-8")
        write_checksums(new)
        (new / "README.md").write_text(card, encoding="utf-8")  # may be edited


def model_card(architecture: Architecture, num_parameters: int, record: Mapping[str, Any]) -> str:
    """The model card: what the model is, how to load it, and what its training recorded."""
    lstm, encoder = architecture.lstm, architecture.encoder
    lines = [
        f"# biLM `{architecture.name}`",
        "",
        "A bidirectional language model (ELMo, Peters et al. 2018) trained with elmo_bench: "
        f"{lstm.num_layers} LSTM layers per direction, {lstm.hidden_dim} units projected to "
        f"{lstm.projection_dim}, token encoder `{encoder.kind}`; "
        f"{num_parameters:,} parameters without the softmax.",
        "",
        "```python",
        "from elmo_bench import BiLm",
        "",
        'layers = BiLm.load("path/to/this/folder").embed([["A", "sentence", "."]])[0]',
        "# float32, (layer, time, dim)",
        "```",
        "",
    ]
    facts = {key: value for key, value in record.items() if not isinstance(value, (dict, list))}
    if facts:
        lines += ["| training | |", "|---|---|"]
        lines += [f"| {key} | {value} |" for key, value in facts.items()] + [""]
    if measured := record.get("perplexity"):
        stateful = record.get("stateful_perplexity", {})
        lines += ["| held-out text | perplexity | stateful, as bilm-tf's test |", "|---|---:|---:|"]
        for name, values in measured.items():
            carried = f"{stateful[name]['mean']:.1f}" if name in stateful else ""
            lines.append(f"| {name} | {values['mean']:.1f} | {carried} |")
        lines += ["", "Over the full vocabulary, mean of both directions.", ""]
    return "\n".join(lines)


def _stored(group: Mapping[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    return {
        key: (t.to(dtype) if t.is_floating_point() else t).detach().cpu().clone().contiguous()
        for key, t in group.items()
    }


def _write_vocabulary(path: Path, vocabulary: Sequence[str]) -> None:
    for number, word in enumerate(vocabulary, start=1):
        if "\n" in word or "\r" in word:
            raise UserError(f"word {number} of the vocabulary, {word!r}, contains a line break.")
    path.write_text("".join(f"{word}\n" for word in vocabulary), encoding="utf-8", newline="\n")
