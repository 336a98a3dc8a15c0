"""What a run computes, as the name of the run, and the baseline that it is compared with."""

import hashlib
import json
from typing import Any

from omegaconf import DictConfig, OmegaConf

from elmo_bench.config.compose import CONF, plain
from elmo_bench.mini.settings import VERSION as MINI_VERSION


def identity(cfg: DictConfig) -> dict[str, Any]:
    """What a run computes. How it computes (trainer, logger, paths) is left out.

    A baseline knows no biLM, so that it serves for all of them; unless its word vectors are those
    of a biLM's text.
    """
    values = plain(cfg)
    task = {key: values["task"][key] for key in ("name", "build", "training")}
    if values["data"]["name"] == "hub":
        task["hub"] = values["task"]["hub"]
    result = {key: values[key] for key in ("seed", "data", "words", "elmo")}
    result["task"] = task
    if values["data"]["name"] == "mini":
        result["data"]["version"] = MINI_VERSION  # the same settings may come to make other text
    if values["elmo"]["name"] != "none":
        result["cache_dtype"] = values["cache_dtype"]
        if values["elmo"]["layers"] != "all":
            del result["elmo"]["l2"]  # on the weights of layers, which one alone has not
    if values["elmo"]["name"] != "none" or values["words"]["name"] == "corpus":
        result["bilm"] = values["bilm"]
    return result


def run_id(cfg: DictConfig) -> str:
    """Name a run by what it computes, so that repeating it replaces its record."""
    text = json.dumps(identity(cfg), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def has_baseline(cfg: DictConfig) -> bool:
    """Whether a run comes with the same model less ELMo; without words that would read nothing."""
    wanted: bool = cfg.baseline == "auto"
    return wanted and cfg.elmo.name != "none" and cfg.words.name != "none"


def baseline_of(cfg: DictConfig) -> DictConfig:
    """The same run without ELMo; `force` repeats the run with ELMo, not its baseline."""
    baseline = cfg.copy()
    OmegaConf.set_struct(baseline, False)
    baseline.elmo = OmegaConf.load(CONF / "elmo" / "none.yaml")
    baseline.force = baseline.bilm.finetune = False
    return baseline
