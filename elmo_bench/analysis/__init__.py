"""Analyses of biLM layers: nearest neighbors in context, word senses, parts of speech."""

from importlib import import_module
from typing import Any

# Public names and their modules; loaded lazily, since reports need only the results.
_PUBLIC = {
    "find_neighbors": "elmo_bench.analysis.neighbors",
    "Method": "elmo_bench.analysis.wsd",
    "draw_occurrences": "elmo_bench.analysis.pictures",
    "read_analyses": "elmo_bench.records.analysis",
    "read_senses": "elmo_bench.analysis.senses",
    "read_tagged": "elmo_bench.analysis.tagged",
    "similar_tokens": "elmo_bench.analysis.static",
    "similar_words": "elmo_bench.analysis.static",
    "study_pos": "elmo_bench.analysis.pos_study",
    "study_senses": "elmo_bench.analysis.wsd_study",
    "write_analysis": "elmo_bench.records.analysis",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'elmo_bench.analysis' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
