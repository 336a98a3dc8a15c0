"""What a run takes from elsewhere: its biLM, pretrained when that is missing, and word vectors."""

import json
from pathlib import Path
from typing import Any

import torch
from omegaconf import DictConfig, OmegaConf
from pytorch_lightning.utilities.seed import isolate_rng

from elmo_bench.bilm.checkpoint import find_folder
from elmo_bench.bilm.model import BiLm
from elmo_bench.config.compose import ConfigError, compose, plain
from elmo_bench.pretraining.stage import pretrain
from elmo_bench.records.digest import digest


def load_or_train_bilm(cfg: DictConfig) -> BiLm:
    """The biLM that a config names; pretrained first if its folder is missing and it says how."""
    settings = plain(cfg.bilm)
    if settings["weights"] == "random":
        if settings["finetune"]:
            raise ConfigError("bilm.finetune=true: an untrained biLM is not to be trained")
        # Its seed is fixed: the control is one model, like the trained one, for all seeds.
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return BiLm(settings["name"], settings["encoder"], settings["lstm"]).eval()
    bilm = BiLm.load_published(settings) if "official" in settings else BiLm.load(_folder(cfg))
    return BiLm.load(_finetuned(cfg, bilm)) if settings["finetune"] else bilm


def _folder(cfg: DictConfig) -> Path:
    """The checkpoint folder of the biLM, made if need be."""
    settings = plain(cfg.bilm)
    if settings["weights"] not in (None, "random"):
        return find_folder(settings["weights"])
    folder = Path(cfg.paths.bilm) / settings["name"]
    if not (folder / "config.yaml").exists() and settings["pretrain_on"] is not None:
        return _pretrained(cfg, f"corpus={settings['pretrain_on']}")
    return find_folder(folder)


def _finetuned(cfg: DictConfig, bilm: BiLm) -> Path:
    """The folder of a biLM fine-tuned on the task's text, made if need be.

    The text of all of a task's runs is the same, but their number of labels need not be.
    """
    data = {**plain(cfg.data), "train_limit": None, "train_fraction": 1.0}
    name = digest([bilm.fingerprint(), plain(cfg.task.build), data])
    return _pretrained(
        cfg,
        "corpus=task",
        "pretraining=finetune",
        "pretraining.batch_size=8",  # few, so that a small text makes enough steps
        f"init_from={bilm.folder or cfg.bilm.weights or cfg.bilm.name}",
        f"name={bilm.config['name']}-{cfg.task.name}-{name}",
        task=cfg.task,
        data=data,
    )


def finetuning(bilm: BiLm) -> dict[str, Any]:
    """Perplexity of the task's dev text before and after, as the biLM's folder tells it."""
    assert bilm.folder is not None
    history = _training(Path(bilm.folder))["history"]
    return {
        when: measured["perplexity"]["dev"]
        for when, measured in (("before", history[0]), ("after", history[-1]))
    }


def _pretrained(cfg: DictConfig, *choices: str, **groups: Any) -> Path:
    """Pretrain on the machine of the run, and leave chance as it was: the run counts on it."""
    paths = [f"paths.{key}={cfg.paths[key]}" for key in ("bilm", "cache", "outputs")]
    config = compose("pretrain", [f"bilm={cfg.bilm.name}", *choices, *paths])
    OmegaConf.set_struct(config, False)
    for key in ("accelerator", "threads", "progress_bar"):
        config.trainer[key] = cfg.trainer[key]
    config.update(groups)
    with isolate_rng():
        return pretrain(config)


def _training(folder: Path) -> dict[str, Any]:
    training: dict[str, Any] = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    return training
