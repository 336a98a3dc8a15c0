"""Checks that a run finds its inputs, in a moment and before anything is computed; no torch."""

from pathlib import Path
from typing import get_args

from elmo_bench.bilm.download import published_paths
from elmo_bench.config.bilm_settings import TransformerSettings
from elmo_bench.config.settings import FilesData, GloveWords, HubData, RunSettings, Split
from elmo_bench.data.files import DataError
from elmo_bench.data.hub import check_available
from elmo_bench.data.loading import split_files
from elmo_bench.data.network import is_reachable
from elmo_bench.data.wandb_server import check_logger
from elmo_bench.errors import UserError
from elmo_bench.features.transformer_files import check_package, find_folder
from elmo_bench.runs.pretraining import bilm_source


def check_inputs(settings: RunSettings) -> None:
    """Raise if the corpus, the word vectors, the biLM or the logger cannot be had."""
    check_logger(settings.logger)
    task, data = settings.task, settings.data
    if isinstance(data, HubData) and task.hub is not None and task.hub.id is not None:
        check_available(task.hub.id)
    elif isinstance(data, FilesData):
        for split in get_args(Split):
            split_files(task, data, split, Path(settings.paths.cache))
    if isinstance(settings.words, GloveWords):
        named = settings.words.path
        for path in map(Path, [named] if isinstance(named, str) else named):
            if not path.expanduser().is_file():
                raise DataError(path, None, "there is no such file (words.path)")
    if not settings.elmo.is_baseline:
        _check_bilm(settings)


def _check_bilm(settings: RunSettings) -> None:
    bilm = settings.bilm
    if isinstance(bilm, TransformerSettings):
        check_package()
        find_folder(bilm.source)
    elif bilm.official is not None:
        missing = [path for path in published_paths(bilm) if not path.exists()]
        if missing and not is_reachable(bilm.official.url):
            raise UserError(
                f"bilm={bilm.name}: {missing[0]} does not exist, and {bilm.official.url} cannot be "
                "reached; download its files on another machine and set bilm.weights to their "
                "folder"
            )
    elif bilm.weights != "random" and (bilm.weights is not None or bilm.pretrain_on is None):
        bilm_source(settings)  # raises if there is none
