"""What a run computes, and the name that follows from it; imports no torch."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from elmo_bench.bilm.fingerprint import published_fingerprint, stored_fingerprint
from elmo_bench.config.bilm_settings import Architecture, TransformerSettings
from elmo_bench.config.identity import what_counts
from elmo_bench.config.settings import CorpusWords, RunSettings
from elmo_bench.data.identity import data_identity, digests, file_digest
from elmo_bench.features.transformer_files import files_digest, find_folder
from elmo_bench.pretraining.identity import (
    recipe_identity,
    softmax_file,
    text_identity,
    training_text,
)
from elmo_bench.records.digest import digest
from elmo_bench.runs.pretraining import bilm_source, finetuning_recipe


def run_id(settings: RunSettings) -> str:
    """Name a run by what it computes, so that repeating it replaces its record."""
    return name_of(identity(settings))


def name_of(identity: Mapping[str, Any]) -> str:
    """The name that follows from what a run computes."""
    return digest(identity)[:8]


def identity(settings: RunSettings) -> dict[str, Any]:
    """What a run computes: settings, the content of its inputs, and versions of the code.

    Names, paths, and how it computes (trainer, logger) are left out. An input that does not exist
    yet, such as a biLM that the run will pretrain, counts as null.
    """
    cache, task = Path(settings.paths.cache), settings.task
    content = partial(file_digest, cache=cache)
    result = {
        "task": {
            "name": task.name,
            "version": task.build.version,
            "metric": task.metric,
            "build": what_counts(task.build, content),
            "training": what_counts(task.training, content),
        },
        "data": data_identity(task, settings.data, cache),
        "words": _words(settings, cache),
        "seed": settings.seed,
    }
    if not settings.elmo.is_baseline:
        elmo = what_counts(settings.elmo, content)
        if settings.elmo.layers != "all":
            del elmo["l2"], elmo["layer_norm"]  # a single layer has no weights and is not normed
        online = settings.features == "online"
        result |= {
            "elmo": elmo,
            "bilm": _bilm(settings, cache),
            "cache_dtype": "float32" if online else settings.cache_dtype,
        }
    return result


def _words(settings: RunSettings, cache: Path) -> dict[str, Any]:
    words = what_counts(settings.words, partial(file_digest, cache=cache))
    if isinstance(settings.words, CorpusWords):
        words["text"] = None
        with suppress(FileNotFoundError):
            words["text"] = text_identity(training_text(bilm_source(settings)), cache)
    return words


def _bilm(settings: RunSettings, cache: Path) -> dict[str, Any]:
    bilm = settings.bilm
    if isinstance(bilm, TransformerSettings):
        return _transformer(bilm, cache)
    values: dict[str, Any] = {"version": Architecture.version}
    if bilm.state != "reset":
        values["state"] = bilm.state
    if bilm.weights == "random":
        sizes = what_counts(bilm.architecture(), partial(file_digest, cache=cache))
        return values | {"weights": "random", **sizes}
    values["fingerprint"] = None
    with suppress(FileNotFoundError):
        values["fingerprint"] = (
            published_fingerprint(bilm, digests(cache))
            if bilm.official
            else stored_fingerprint(bilm_source(settings), digests(cache))
        )
    if not bilm.finetune:
        return values | {"finetune": False}
    new_softmax = bool(bilm.official)  # official weights have none
    with suppress(FileNotFoundError):
        new_softmax = new_softmax or not softmax_file(bilm_source(settings)).exists()
    return values | {"finetune": digest(recipe_identity(finetuning_recipe(), new_softmax))}


def _transformer(encoder: TransformerSettings, cache: Path) -> dict[str, Any]:
    """The settings, and the content of files that are here; a Hub model that is not is null."""
    values = what_counts(encoder, str) | {"version": encoder.version, "config": None}
    untrained = encoder.weights == "random"
    content = None
    with suppress(FileNotFoundError):
        folder = find_folder(encoder.source, download=False)
        content = files_digest(folder, digests(cache), weights=not untrained)
    return values | ({"config": content} if untrained else {"weights": content})
