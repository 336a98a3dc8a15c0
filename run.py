"""Run one task, or a sweep with -m: `python run.py task=ner`."""

import sys

import hydra
from omegaconf import DictConfig

from elmo_bench.checks import check
from elmo_bench.config import ConfigError
from elmo_bench.entry import guarded


@hydra.main(config_path="conf", config_name="run", version_base="1.3")
def main(cfg: DictConfig) -> float:
    """Run what the config says and return the dev score, which sweepers maximise."""
    try:
        check(cfg)
        from elmo_bench.evaluate import run  # torch and Lightning take seconds to import

        return run(cfg)
    except ConfigError as error:
        sys.exit(f"run.py: {error}")


if __name__ == "__main__":
    sys.exit(guarded(main, "run"))
