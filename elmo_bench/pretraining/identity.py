"""What a pretraining computes: its settings, and the content of its text; imports no torch."""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from elmo_bench.bilm.fingerprint import stored_fingerprint
from elmo_bench.bilm.training_file import read_training
from elmo_bench.config.bilm_settings import Architecture
from elmo_bench.config.compose import validated
from elmo_bench.config.errors import ConfigError
from elmo_bench.config.folders import find_bilm
from elmo_bench.config.identity import what_counts
from elmo_bench.config.pretraining_settings import (
    CorpusSource,
    HubCorpusSettings,
    MiniCorpusSettings,
    PretrainingSettings,
    PretrainSettings,
    TaskCorpusSettings,
    TextCorpusSettings,
)
from elmo_bench.data.identity import data_identity, digests, file_digest
from elmo_bench.mini.settings import VERSION as MINI_VERSION
from elmo_bench.pretraining.corpus import file_weights, name_of, text_files
from elmo_bench.records.checksums import check_file
from elmo_bench.records.remembered import content_digest


def pretraining_identity(settings: PretrainSettings) -> dict[str, Any]:
    """What a pretraining computes; how and where it computes is left out."""
    cache = Path(settings.paths.cache)
    content = partial(file_digest, cache=cache)
    start = None if settings.init_from is None else _start(settings.init_from, cache)
    new_softmax = start is not None and start["softmax"] is None
    return {
        "version": Architecture.version,
        "bilm": what_counts(settings.bilm.architecture(), content),
        "text": text_identity(settings, cache),
        "pretraining": recipe_identity(settings.pretraining, new_softmax),
        "init_from": start,
        "save_dtype": settings.save_dtype,
    }


def recipe_identity(recipe: PretrainingSettings, new_softmax: bool) -> dict[str, Any]:
    """What counts of a recipe, which depends on whether a biLM without a softmax is fine-tuned."""
    values = what_counts(recipe, str)
    return values if new_softmax else {k: v for k, v in values.items() if k != "new_softmax"}


def _start(name: str, cache: Path) -> dict[str, Any]:
    """A biLM with its softmax, which a training continues too; official weights have none."""
    return {
        "fingerprint": stored_fingerprint(name, digests(cache)),
        "softmax": file_digest(str(softmax_file(name)), cache),
    }


def softmax_file(name: str | Path) -> Path:
    """Where a biLM, given by its name or folder, has its softmax, if it has one."""
    folder = Path(name).expanduser()
    with suppress(FileNotFoundError):
        folder = find_bilm(name)
    return folder / "softmax.safetensors"


def text_identity(source: CorpusSource, cache: Path) -> dict[str, Any]:
    """The content of a corpus.

    Args:
        source: The corpus, with its task if it is the text of a task.
        cache: Where digests of large files are remembered.
    """
    corpus = source.corpus
    match corpus:
        case MiniCorpusSettings():
            content = {"version": MINI_VERSION, **what_counts(corpus, str)}
        case TextCorpusSettings(path=path, heldout=heldout, weights=weights):
            train, held_out = text_files(path, heldout)
            memory = digests(cache)
            content = {
                "kind": corpus.kind,
                "train": content_digest(train, memory),
                "heldout": {name_of(file): content_digest([file], memory) for file in held_out},
            }
            if weights:
                content["weights"] = file_weights(train, weights)
        case HubCorpusSettings():
            content = what_counts(corpus, str)
        case TaskCorpusSettings():
            assert source.task is not None and source.data is not None
            task, whole = source.task, source.data.but(train_limit=None, train_fraction=1.0)
            content = {
                "kind": corpus.kind,
                "task": task.name,
                "part": corpus.part,
                "version": task.build.version,
                "build": what_counts(task.build, partial(file_digest, cache=cache)),
                "data": data_identity(task, whole, cache),
            }
    return content


def training_text(folder: Path) -> CorpusSource:
    """The corpus that a biLM was trained on, as its folder records it."""
    path = folder / "training.json"
    check_file(path, "copy the biLM again, or pretrain it again with force=true")
    recorded = read_training(folder).settings
    if "corpus" not in recorded:
        raise ConfigError(
            f"words=corpus: {folder} does not record its training text; train vectors on "
            "that text yourself and use them with words=glove words.path=..."
        )
    keys = ("corpus", "task", "data")
    source = {key: recorded[key] for key in keys if recorded.get(key) is not None}
    return validated(CorpusSource, source, f"{path} settings")
