import shlex

import pytest

from elmo_bench.config.compose import CONF, compose, task_names
from elmo_bench.config.identity import identity
from elmo_bench.report.run_command import run_command, with_elmo, with_words, without_elmo


def composed(*overrides):
    """What Hydra makes of a command line, as a record has it, without the seed."""
    config = identity(compose("run", list(overrides)))
    return {key: value for key, value in config.items() if key != "seed"}


def again(command):
    words = shlex.split(command)
    assert words[:2] == ["python", "run.py"]
    return composed(*(word for word in words[2:] if word != "-m" and not word.startswith("seed=")))


@pytest.mark.parametrize("task", task_names())
def test_the_command_of_a_plain_run_is_short(task):
    assert run_command(composed(f"task={task}")) == f"python run.py task={task}"


@pytest.mark.parametrize(
    "overrides",
    [
        ["elmo=none"],
        ["elmo=last", "bilm=small"],
        ["elmo.l2=1", "elmo.placement=[input,output]", "elmo.scale=rms"],
        ["data=files", "data.dir='~/my corpora/x=1'", "words=glove", "words.path='~/g.txt'"],
        ["bilm.weights=random", "data.train_fraction=0.01"],
        ["task.training.optimizer.lr=5e-4", "cache_dtype=float16"],
        ["+task.training.optimizer.weight_decay=0.1"],
    ],
)
def test_a_command_computes_the_config_it_was_made_of(overrides):
    config = composed("task=ner", *overrides)
    assert again(run_command(config)) == config


OPEN = sorted(path.stem for path in (CONF / "experiment" / "open").glob("*.yaml"))


@pytest.mark.parametrize("name", OPEN)
def test_a_run_of_an_overlay_can_be_told_without_it(name):
    config = composed(f"experiment=open/{name}")
    assert again(run_command(config)) == config


def test_several_seeds_make_a_sweep():
    assert run_command(composed("task=ner"), [2, 1]) == "python run.py -m task=ner seed=1,2"


def test_the_baseline_of_a_run_is_the_baseline_that_run_py_makes():
    assert without_elmo(composed("task=ner", "bilm=small")) == composed("task=ner", "elmo=none")


def test_a_baseline_with_words_of_a_bilms_text_keeps_the_bilm():
    elmo = composed("task=ner", "bilm=small", "words=corpus")
    assert without_elmo(elmo) == composed("task=ner", "elmo=none", "bilm=small", "words=corpus")


def test_elmo_for_a_baseline_is_what_run_py_would_choose():
    assert with_elmo(composed("task=ner", "elmo=none")) == composed("task=ner")


def test_other_words_come_with_their_own_settings():
    config = with_words(composed("task=ner"), "corpus")
    assert again(run_command(config)) == composed("task=ner", "words=corpus")
