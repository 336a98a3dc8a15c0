"""What a run computes, and the name that follows from it."""

from typing import Any

from elmo_bench.config.settings import CorpusWords, HubData, MiniData, RunSettings
from elmo_bench.mini.settings import VERSION as MINI_VERSION
from elmo_bench.records.digest import digest


def identity(settings: RunSettings) -> dict[str, Any]:
    """What a run computes. How it computes (trainer, logger, paths) is left out.

    A baseline does not depend on the biLM, so all biLMs share it, unless its word vectors come from
    the biLM's text.
    """
    values = settings.plain()
    result = {key: values[key] for key in ("seed", "data", "words", "elmo")}
    result["task"] = {key: values["task"][key] for key in ("name", "build", "training")}
    if isinstance(settings.data, HubData):
        result["task"]["hub"] = values["task"]["hub"]
    if isinstance(settings.data, MiniData):
        result["data"]["version"] = MINI_VERSION  # a new generator makes other text
    if not settings.elmo.is_baseline:
        result["cache_dtype"] = settings.cache_dtype
        if settings.elmo.layers != "all":
            del result["elmo"]["l2"]  # a single layer has no layer weights
    if not settings.elmo.is_baseline or isinstance(settings.words, CorpusWords):
        result["bilm"] = values["bilm"]
    return result


def run_id(settings: RunSettings) -> str:
    """Name a run by what it computes, so that repeating it replaces its record."""
    return digest(identity(settings))[:8]
