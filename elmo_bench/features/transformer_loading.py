"""Loads models and tokenizers with the package transformers, which is imported only here."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from elmo_bench.data.files import DataError
from elmo_bench.features.transformer_files import check_package, files_digest
from elmo_bench.records.digest import digest


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder; words that are already split count as preceded by a space."""
    transformers = _transformers()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        if getattr(tokenizer, "add_prefix_space", None) is False:
            return transformers.AutoTokenizer.from_pretrained(folder, add_prefix_space=True)
    except Exception as error:  # the tokenizers raise plain exceptions
        raise _unreadable(folder, "tokenizer", error) from error
    return tokenizer


def load_model(folder: Path, untrained: bool) -> tuple[nn.Module, str]:
    """The model of a folder in float32 and the hash of its content; of T5 or BART the encoder.

    Args:
        folder: Where the files are.
        untrained: Leave the model at random weights, the same at every call.
    """
    transformers = _transformers()
    missing: Iterable[str] = ()
    # A part that the files lack, such as BERT's pooler, is random; that must not change the run.
    with torch.random.fork_rng():
        torch.manual_seed(0)
        try:
            if untrained:
                config = transformers.AutoConfig.from_pretrained(folder)
                model = transformers.AutoModel.from_config(config, dtype=torch.float32)
            else:
                model, info = transformers.AutoModel.from_pretrained(
                    folder, dtype=torch.float32, output_loading_info=True
                )
                missing = info["missing_keys"]
        except Exception as error:  # of any kind: damaged files, an unknown architecture
            raise _unreadable(folder, "model", error) from error
    if model.config.is_encoder_decoder:
        missing = [key for key in missing if not key.startswith("decoder.")]
        model = model.get_encoder()
    if lost := [key for key in sorted(missing) if "pooler" not in key]:
        raise DataError(folder, None, f"{len(lost)} weights are missing, the first is {lost[0]}")
    content = files_digest(folder, weights=not untrained)
    return model, digest([content, _weights_hash(model)]) if untrained else content


def longest_input(model: nn.Module, tokenizer: Any) -> int | None:
    """The most subwords, frame included, that a model reads at once; None if it has no limit."""
    limits = [tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None)]
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            # RoBERTa's positions begin after the number of its padding.
            skipped = 0 if module.padding_idx is None else module.padding_idx + 1
            limits.append(module.num_embeddings - skipped)
    return min((limit for limit in limits if limit and 0 < limit < 10**6), default=None)


def _transformers() -> Any:
    check_package()
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def _unreadable(folder: Path, part: str, error: Exception) -> DataError:
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    return DataError(folder, None, f"transformers cannot load the {part} ({reason})")


def _weights_hash(model: nn.Module) -> str:
    weights = hashlib.sha256()
    for key, tensor in sorted(model.state_dict().items()):
        weights.update(key.encode())
        weights.update(tensor.cpu().contiguous().numpy().data)
    return weights.hexdigest()
