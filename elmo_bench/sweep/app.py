"""The Hydra entry point of run.py: one run, or one job of a sweep."""

import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from elmo_bench.config.folders import CONF
from elmo_bench.errors import end


@hydra.main(config_path=str(CONF), config_name="run", version_base="1.3")
def run_app(cfg: DictConfig) -> float:
    """Run the config and return the dev score, which sweepers maximize."""
    how = HydraConfig.get()
    overrides = list(how.overrides.task)
    if how.mode == RunMode.MULTIRUN:
        from elmo_bench.sweep.execute import run_job

        folder = Path(how.runtime.output_dir)
        return run_job(cfg, how.job.num, overrides, folder, how.launcher)
    try:
        from elmo_bench.config.compose import run_settings

        settings = run_settings(cfg)
        if settings.dry_run:
            from elmo_bench.sweep.plan import plan, show_plan

            show_plan(plan(settings))
            return 0.0
        from elmo_bench.runs.inputs import check_inputs

        check_inputs(settings)
        from elmo_bench.runs.stage import run  # torch and Lightning take seconds to import

        return run(settings, overrides)
    except Exception as error:
        sys.exit(end("run.py", error))  # before Hydra, which would shorten the traceback
