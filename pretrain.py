"""Pretrain a biLM: `python pretrain.py bilm=mini corpus=mini`."""

import sys

import hydra
from omegaconf import DictConfig

from elmo_bench.entry import guarded


@hydra.main(config_path="conf", config_name="pretrain", version_base="1.3")
def main(cfg: DictConfig) -> None:
    """Train what the config says, or go on where a training was cut off."""
    from elmo_bench.pretrain import PretrainingError, pretrain  # torch takes seconds to import

    try:
        print(f"The biLM is in {pretrain(cfg)}")
    except (PretrainingError, ValueError, OSError) as error:
        sys.exit(f"pretrain.py: {error}")


if __name__ == "__main__":
    sys.exit(guarded(main, "pretrain"))
