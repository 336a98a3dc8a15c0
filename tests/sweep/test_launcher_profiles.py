import pytest
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from omegaconf import OmegaConf
from submitit import AutoExecutor

from elmo_bench.config.compose import compose
from elmo_bench.config.folders import CONF
from elmo_bench.config.hydra_main import _prefer_own_launchers

PROFILES = sorted(path.stem for path in (CONF / "hydra" / "launcher").glob("*.yaml"))


def profile(name: str) -> dict:
    cfg = compose("run", ["task=ner", f"hydra/launcher={name}"], with_hydra=True)
    cfg.hydra.sweep.dir = "sweep"
    return OmegaConf.to_container(cfg.hydra.launcher, resolve=True)


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_names_a_launcher_that_accepts_its_settings(name):
    _prefer_own_launchers()
    settings = profile(name)
    launcher = Plugins.instance().class_name_to_class[settings.pop("_target_")]
    assert launcher(**settings)


def test_our_profiles_replace_those_of_the_plugins():
    _prefer_own_launchers()
    assert not {f"{name}.yaml" for name in PROFILES} & set(
        ConfigStore.instance().repo["hydra"]["launcher"]
    )
    assert profile("submitit_slurm")["max_num_timeout"] == 5


def test_slurm_gets_the_settings_of_the_profile(tmp_path, monkeypatch):
    srun = tmp_path / "srun"
    srun.write_text("#!/bin/sh\n")
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    _prefer_own_launchers()
    settings = profile("submitit_slurm") | {"partition": "long"}
    executor = AutoExecutor(tmp_path, cluster="slurm", slurm_max_num_timeout=5)
    shared = ("timeout_min", "cpus_per_task", "gpus_per_node", "tasks_per_node", "mem_gb", "nodes")
    shared += ("name", "stderr_to_stdout")
    own = set(settings) - {*shared, "_target_", "submitit_folder", "max_num_timeout"}
    executor.update_parameters(
        **{key: settings[key] for key in shared}, **{f"slurm_{key}": settings[key] for key in own}
    )
    script = executor._executor._make_submission_file_text("command", "id")
    for line in ("--partition=long", "--cpus-per-task=4", "--time=720", "--gpus-per-node=1"):
        assert f"#SBATCH {line}" in script
