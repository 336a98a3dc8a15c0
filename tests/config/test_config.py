import subprocess
import sys
from pathlib import Path

import pytest
import torch
from omegaconf import OmegaConf

from elmo_bench.config.checks import check
from elmo_bench.config.compose import (
    CONF,
    ConfigError,
    build,
    compose,
    plain,
    task_config,
    task_names,
)
from elmo_bench.config.identity import run_id
from tests.conftest import PROJECT

GROUPS = [path.name for path in CONF.iterdir() if path.is_dir()]


def config(*overrides: str, name: str = "run"):
    return compose(name, list(overrides))


def options(group: str) -> list[str]:
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


RUN_GROUPS = ("task", "data", "words", "bilm", "elmo", "trainer", "logger", "experiment")
RUN_OPTIONS = [
    (group, option)
    for group in RUN_GROUPS
    for option in options(group)
    if (group, option) != ("trainer", "pretraining")  # of pretrain.yaml
]
NEEDED = {"glove": ["words.path=vectors.txt"]}


@pytest.mark.parametrize(("group", "option"), RUN_OPTIONS)
def test_every_option_of_a_run_composes_resolves_and_passes_the_checks(group, option):
    task = ["task=ner"] if group != "task" else []
    cfg = config(*task, f"{group}={option}", *NEEDED.get(option, []))
    check(cfg)
    assert "experiment" not in cfg  # a comment above `# @package _global_` would leave a dead node
    assert plain(cfg.task)


@pytest.mark.parametrize("task", task_names())
def test_every_small_size_belongs_to_a_task_and_changes_it(task):
    small, full = config(f"task={task}"), config(f"task={task}", "data=files")
    assert (CONF / "size" / "mini" / f"{task}.yaml").exists()
    assert small.task.build != full.task.build


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("seed=-1", ["seed=-1", "whole number"]),
        ("elmo.dropout=1.5", ["elmo.dropout=1.5", "0 to 1"]),
        ("elmo.layers=some", ["elmo.layers=some", "all, last, first, token"]),
        ("task.training.batch_size=0", ["task.training.batch_size=0", "from 1 on"]),
        ("+sed=3", ["sed=3", "did you mean seed"]),
        ("+task.training.patienc=3", ["task.training.patienc=3", "patience"]),
        ("+elmo.gama=1", ["elmo.gama=1", "Known under elmo"]),
    ],
)
def test_a_wrong_key_or_value_is_told_with_what_is_allowed(override, words):
    with pytest.raises(ConfigError) as error:
        check(config("task=ner", override))
    assert all(word in str(error.value) for word in words)


def test_options_of_an_optimizer_are_free():
    check(config("task=ner", "+task.training.optimizer.weight_decay=0.1"))


def test_another_optimizer_takes_nothing_over_that_only_the_first_one_knows():
    cfg = config("task=squad", "optimizer@task.training.optimizer=adam")
    check(cfg)
    optimizer = build(cfg.task.training.optimizer)([torch.nn.Parameter(torch.zeros(1))])
    assert isinstance(optimizer, torch.optim.Adam)


@pytest.mark.parametrize("task", task_names())
def test_a_task_read_alone_is_that_of_a_run_on_a_whole_corpus(task):
    run = config(f"task={task}", "data=files")
    assert plain(task_config(task)) == plain(run.task)


def test_how_a_run_computes_does_not_change_its_name():
    how = ["trainer.threads=1", "logger=wandb", "paths.cache=elsewhere", "force=true"]
    assert run_id(config("task=ner", *how)) == run_id(config("task=ner"))


@pytest.mark.parametrize("what", ["seed=2", "elmo=last", "words.dim=7", "data.seed=9"])
def test_what_a_run_computes_changes_its_name(what):
    assert run_id(config("task=ner", what)) != run_id(config("task=ner"))


def test_all_language_models_share_a_baseline():
    assert run_id(config("task=ner", "elmo=none", "bilm=english")) == run_id(
        config("task=ner", "elmo=none")
    )


def test_an_identity_survives_a_round_trip_through_yaml():
    cfg = config("task=ner")
    assert run_id(OmegaConf.create(OmegaConf.to_yaml(cfg))) == run_id(cfg)


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "importtime", "run.py", *arguments]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)


def test_without_a_task_the_six_are_listed():
    done = call()
    assert done.returncode == 2
    assert all(f"\n  {task} " in done.stderr for task in task_names())


@pytest.mark.parametrize(
    "arguments", [["--help"], ["task=ner", "--cfg", "job"], ["task=ner", "elmo.layers=x"]]
)
def test_help_config_and_errors_come_without_importing_torch(arguments):
    done = call(*arguments)
    assert "| torch\n" not in done.stderr.replace("|   ", "| ")
    assert done.stdout or "elmo.layers" in done.stderr


def test_a_mistyped_override_is_answered_with_the_keys_there_are():
    done = call("task=ner", "task.trainin.patience=3")
    assert done.returncode == 1
    assert "task.trainin: there is no such key; did you mean task.training?" in done.stderr


def test_a_path_in_the_home_folder_can_be_given_with_a_tilde():
    done = call("task=ner", "data=files", "data.dir=~/corpus", "--cfg", "job", "-p", "data.dir")
    assert done.stdout.strip() == str(Path.home() / "corpus")
