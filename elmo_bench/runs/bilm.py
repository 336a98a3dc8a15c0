"""The encoder of a run: a transformer; or a biLM, pretrained or fine-tuned first if need be."""

import logging
from pathlib import Path
from typing import Any

import torch
from pytorch_lightning.utilities.seed import isolate_rng

from elmo_bench.bilm.download import published_files
from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.training_file import read_training
from elmo_bench.config.bilm_settings import TransformerSettings
from elmo_bench.config.pretraining_settings import PretrainSettings
from elmo_bench.config.settings import CorpusWords, RunSettings
from elmo_bench.data.files import DataError
from elmo_bench.features.encoder import Encoder
from elmo_bench.features.transformer import TransformerEncoder
from elmo_bench.features.transformer_files import check_package, find_folder
from elmo_bench.pretraining.identity import pretraining_identity
from elmo_bench.pretraining.stage import pretrain
from elmo_bench.records.digest import first_difference
from elmo_bench.runs.pretraining import (
    bilm_source,
    finetuning,
    missing_pretraining,
    own_folder,
)

log = logging.getLogger(__name__)


def provide_bilm(settings: RunSettings) -> None:
    """Pretrain or download a run's encoder if it is missing, since the run's name depends on it.

    A biLM that was trained on another text than it would be now is used, with a warning.
    """
    bilm = settings.bilm
    needed = not settings.elmo.is_baseline or isinstance(settings.words, CorpusWords)
    if not needed:
        return
    if isinstance(bilm, TransformerSettings):
        check_package()
        find_folder(bilm.source)
    elif bilm.weights == "random":
        return
    elif bilm.official:
        published_files(bilm)
    elif bilm.weights is None and bilm.pretrain_on is not None:
        pretraining, folder = missing_pretraining(settings), own_folder(settings)
        if not (folder / "config.yaml").exists():
            _pretrained(pretraining)
        elif (folder / "training.json").exists():
            stored = read_training(folder).identity
            if other := first_difference(stored, pretraining_identity(pretraining)):
                log.warning(
                    "%s would be trained otherwise now (%s). It is used as it is; to train it "
                    "again: python pretrain.py bilm=%s corpus=%s force=true",
                    *(folder, other, bilm.name, bilm.pretrain_on),
                )
    else:
        bilm_source(settings)


def load_bilm(settings: RunSettings) -> Encoder:
    """The encoder that settings name, which must exist; a biLM is fine-tuned if they say so."""
    bilm = settings.bilm
    if isinstance(bilm, TransformerSettings):
        untrained = bilm.weights == "random"
        folder = find_folder(bilm.source)
        return TransformerEncoder.load(folder, bilm.name, bilm.pooling, bilm.window, untrained)
    if bilm.weights == "random":
        # A fixed seed: like a trained biLM, the control is one model for all seeds of a run.
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return BiLm(bilm.architecture()).eval()
    if not bilm.finetune:
        return BiLm.load_published(bilm) if bilm.official else BiLm.load(bilm_source(settings))
    # An official model is loaded by its name, or from the folder that the user chose.
    start = (bilm.weights or bilm.name) if bilm.official else bilm_source(settings)
    return BiLm.load(_pretrained(finetuning(settings, start)))


def finetuning_perplexity(bilm: Encoder) -> dict[str, Any]:
    """Perplexity of the task's dev text before and after, as the biLM's folder records it.

    The parts of a text have keys of their own: `contexts before`, `contexts after`.
    """
    assert isinstance(bilm, BiLm) and bilm.folder is not None
    history = read_training(bilm.folder).history
    if not history:
        raise DataError(bilm.folder / "training.json", None, "has no history of the fine-tuning")
    return {
        when if part == "dev" else f"{part} {when}": perplexity
        for when, measured in (("before", history[0]), ("after", history[-1]))
        for part, perplexity in measured.perplexity.items()
    }


def _pretrained(settings: PretrainSettings) -> Path:
    """Pretrain, and restore the random state that the run depends on."""
    with isolate_rng():
        return pretrain(settings)
