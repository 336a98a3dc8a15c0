"""The Hydra entry point of pretrain.py."""

import sys

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from elmo_bench.config.errors import ConfigError
from elmo_bench.config.folders import CONF
from elmo_bench.config.pretraining_settings import PretrainingTrainer
from elmo_bench.errors import end
from elmo_bench.training.gpus import take_gpu


@hydra.main(config_path=str(CONF), config_name="pretrain", version_base="1.3")
def pretrain_app(cfg: DictConfig) -> None:
    """Train what the config says, or resume an interrupted training."""
    try:
        from elmo_bench.config.compose import pretrain_settings

        settings = pretrain_settings(cfg)
        how = HydraConfig.get()
        if how.mode == RunMode.MULTIRUN:
            refuse_parallel_jobs(settings.trainer)
            take_gpu(how.launcher, how.job.num)
        from elmo_bench.data.wandb_server import check_logger
        from elmo_bench.pretraining.corpus import check_corpus

        check_corpus(settings.corpus)
        check_logger(settings.logger)
        from elmo_bench.pretraining.stage import pretrain  # torch takes seconds to import

        pretrain(settings)
    except Exception as error:
        sys.exit(end("pretrain.py", error))  # before Hydra, which would shorten the traceback


def refuse_parallel_jobs(trainer: PretrainingTrainer) -> None:
    """Refuse a sweep of trainings that each take several processes."""
    for key, value in (("devices", trainer.devices), ("num_nodes", trainer.num_nodes)):
        if value != 1:
            raise ConfigError(
                f"trainer.{key}={value} in a sweep (-m): Lightning starts its further processes by "
                "running this same command again, and each of them would start the whole sweep. "
                "Start such trainings one by one: for seed in 1 2; do python pretrain.py "
                f"trainer.{key}={value} pretraining.seed=$seed name=NAME-$seed ...; done"
            )
