import shlex
from dataclasses import replace

import pytest

from elmo_bench.config.compose import run_settings, task_names
from elmo_bench.config.folders import CONF
from elmo_bench.report.groups import Runs
from elmo_bench.report.run_command import DEFAULTS, run_command
from elmo_bench.runs.identity import identity
from tests.report.synthetic_records import record


def group_of(*overrides, seeds=(1,), elmo="paper"):
    """Runs that the given command line made."""
    settings = run_settings(list(overrides))
    made = [
        replace(
            record("ner", seed, elmo="x" if elmo != "none" else None),
            task=settings.task.name,
            overrides=[*overrides, f"seed={seed}"],
        )
        for seed in seeds
    ]
    [group] = Runs(made).groups
    return group


def computed(command):
    """What a command computes, as a record has it."""
    words = shlex.split(command)
    assert words[:2] == ["python", "run.py"]
    return identity(run_settings([w for w in words[2:] if w != "-m" and not w.startswith("seed=")]))


def test_the_defaults_are_those_of_the_config():
    settings = run_settings(["task=ner"])
    assert {key: getattr(settings, key).name for key in DEFAULTS} == DEFAULTS


@pytest.mark.parametrize("task", task_names())
def test_the_command_of_a_plain_run_is_short(task):
    assert run_command(group_of(f"task={task}"), {}) == f"python run.py task={task}"


@pytest.mark.parametrize(
    "overrides",
    [
        ["elmo=last", "bilm=small"],
        ["elmo.l2=1", "elmo.placement=[input,output]", "elmo.scale=rms"],
        ["data=files", "data.dir='my corpora/x=1'", "words=glove", "words.path='g.txt'"],
        ["bilm.weights=random", "data.train_fraction=0.01"],
        ["task.training.optimizer.lr=5e-4", "cache_dtype=float16"],
        ["+task.training.optimizer.weight_decay=0.1"],
    ],
)
def test_a_command_repeats_what_a_run_computed(overrides):
    command = run_command(group_of("task=ner", *overrides), {})
    assert computed(command) == identity(run_settings(["task=ner", *overrides]))


OPEN = sorted(path.stem for path in (CONF / "experiment" / "open").glob("*.yaml"))


@pytest.mark.parametrize("name", OPEN)
def test_an_overlay_is_kept_and_its_elmo_option_can_be_changed(name):
    overlay = f"experiment=open/{name}"
    command = run_command(group_of(overlay), {"elmo": "last"})
    assert command == f"python run.py {overlay} elmo=last"


def test_a_default_is_named_where_an_overlay_chooses_otherwise():
    command = run_command(group_of("experiment=open/ner"), {"words": "random"})
    assert command == "python run.py experiment=open/ner words=random"


def test_the_job_of_a_sweep_is_repeated_without_the_sweep():
    group = group_of("experiment=table1", "task=squad", "trainer.threads=1", "paths.cache=x")
    assert run_command(group, {}) == "python run.py task=squad"


def test_several_seeds_make_a_sweep():
    group = group_of("task=ner", seeds=(2, 1))
    assert run_command(group, {}) == "python run.py -m task=ner seed=1,2"


def test_another_option_replaces_what_was_set_in_its_group():
    group = group_of("task=ner", "elmo=last", "elmo.dropout=0.1", "words.dim=50")
    assert run_command(group, {"elmo": "none"}) == "python run.py task=ner words.dim=50 elmo=none"
    assert run_command(group, {"words": "corpus"}).endswith("elmo.dropout=0.1 words=corpus")


def test_elmo_for_a_baseline_is_what_run_py_would_choose():
    baseline = group_of("task=ner", "elmo=last", elmo="none")
    assert run_command(baseline, {"elmo": "paper"}) == "python run.py task=ner"
    assert run_command(baseline, {}) == "python run.py task=ner elmo=none"


def test_a_record_without_overrides_is_described_by_its_options():
    [group] = Runs([replace(record("ner", words__name="corpus"), overrides=[])]).groups
    assert run_command(group, {}) == "python run.py task=ner words=corpus"
