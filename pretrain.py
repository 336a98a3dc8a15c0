"""Pretrain a biLM: `python pretrain.py bilm=mini corpus=mini`."""

import sys

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from elmo_bench.config.checks import check
from elmo_bench.config.compose import CONF
from elmo_bench.config.hydra_main import guarded, one_device_per_job
from elmo_bench.config.pretraining_checks import PRETRAINING_RULES


@hydra.main(config_path=str(CONF), config_name="pretrain", version_base="1.3")
def main(cfg: DictConfig) -> None:
    """Train what the config says, or go on where a training was cut off."""
    try:
        if HydraConfig.get().mode == RunMode.MULTIRUN:
            one_device_per_job(cfg)
        check(cfg, PRETRAINING_RULES, "pretrain")
        from elmo_bench.pretraining.stage import (
            pretrain,  # torch and Lightning take seconds to import
        )

        pretrain(cfg)
    except (ValueError, OSError) as error:
        sys.exit(f"pretrain.py: {error}")


if __name__ == "__main__":
    sys.exit(guarded(main, "pretrain"))
