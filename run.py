"""Run one task, or a sweep with -m: `python run.py task=ner`."""

import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from elmo_bench.config.checks import check
from elmo_bench.config.compose import CONF, ConfigError
from elmo_bench.config.hydra_main import guarded


@hydra.main(config_path=str(CONF), config_name="run", version_base="1.3")
def main(cfg: DictConfig) -> float:
    """Run what the config says and return the dev score, which sweepers maximize."""
    how = HydraConfig.get()
    if how.mode == RunMode.MULTIRUN:
        from elmo_bench.sweep.execute import run_job

        folder = Path(how.runtime.output_dir)
        return run_job(cfg, how.job.num, list(how.overrides.task), folder, how.launcher)
    try:
        check(cfg)
        if cfg.dry_run:
            from elmo_bench.sweep.plan import plan, show_plan

            show_plan(plan(cfg))
            return 0.0
        from elmo_bench.runs.stage import run  # torch and Lightning take seconds to import

        return run(cfg)
    except ConfigError as error:
        sys.exit(f"run.py: {error}")


if __name__ == "__main__":
    sys.exit(guarded(main, "run"))
