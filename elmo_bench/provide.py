"""What a run takes from elsewhere: its biLM, pretrained when that is missing, and word vectors."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from omegaconf import DictConfig

from elmo_bench.bilm.checkpoint import find_folder
from elmo_bench.bilm.corpus import digest
from elmo_bench.bilm.model import BiLm
from elmo_bench.config import ConfigError, build, plain
from elmo_bench.example import Example, Segment, distinct_segments
from elmo_bench.nn.vectors import train_vectors
from elmo_bench.nn.words import WordEmbedding, pretrained_words, random_words
from elmo_bench.pretrain import pretrain, pretrain_config


def provide_bilm(cfg: DictConfig) -> BiLm:
    """The biLM that a config names; pretrained first if its folder is missing and it says how."""
    settings = plain(cfg.bilm)
    if settings["weights"] == "random":
        # Its seed is fixed: the control is one model, like the trained one, for all seeds.
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return BiLm(settings["name"], settings["encoder"], settings["lstm"]).eval()
    if "official" in settings:
        return BiLm.load_published(settings)
    return BiLm.load(_folder(cfg))


def _folder(cfg: DictConfig) -> Path:
    """The checkpoint folder of the biLM, made if need be."""
    settings = plain(cfg.bilm)
    if settings["weights"] not in (None, "random"):
        return find_folder(settings["weights"])
    folder = Path(cfg.paths.bilm) / settings["name"]
    if not (folder / "config.yaml").exists() and settings["pretrain_on"] is not None:
        choices = [f"bilm={settings['name']}", f"corpus={settings['pretrain_on']}"]
        paths = [f"paths.{key}={cfg.paths[key]}" for key in ("bilm", "cache", "outputs")]
        return pretrain(pretrain_config(*choices, *paths))
    return find_folder(folder)


def provide_words(
    cfg: DictConfig, train: Sequence[Example], segments: Sequence[Segment]
) -> WordEmbedding:
    """Static word vectors, for the words of the training data or of all segments."""
    settings = plain(cfg.words)
    name = settings.pop("name")
    known = distinct_segments(train)
    if name == "random":
        return random_words(known, **settings)
    if name == "glove":
        path = Path(settings.pop("path")).expanduser()
    else:
        keys = ("dim", "lowercase", "min_count", "window", "epochs")
        path = _corpus_vectors(cfg, {key: settings[key] for key in keys})
        settings = {key: settings[key] for key in ("lowercase", "trainable", "word_dropout")}
    words = pretrained_words(path, known, segments, **settings)
    coverage = words.coverage(segments)
    print(f"{path.name}: vectors for {coverage.tokens:.1f} % of the tokens")
    return words


def _corpus_vectors(cfg: DictConfig, settings: dict[str, Any]) -> Path:
    """Vectors of the very text that the biLM was trained on, which its folder names."""
    folder = _folder(cfg)
    training = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    try:
        corpus = build(training["settings"]["corpus"])
    except KeyError as error:
        raise ConfigError(
            f"words=corpus: {folder} does not say what text it was trained on; train vectors on "
            "that text yourself and give them as words=glove words.path=..."
        ) from error
    name = digest([corpus.fingerprint(), settings])
    path = Path(cfg.paths.cache) / "vectors" / f"{folder.name}-{name}.txt"
    return train_vectors(path, lambda: map(list, corpus.train()), **settings)
