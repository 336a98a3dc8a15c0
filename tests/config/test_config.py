"""Config options, typed settings, and the errors for mistyped ones."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from elmo_bench.config.compose import options, pretrain_settings, run_settings, task_names
from elmo_bench.config.errors import ConfigError
from elmo_bench.config.hydra_main import GROUPS
from elmo_bench.config.settings import RunSettings
from elmo_bench.runs.identity import run_id
from elmo_bench.runs.optimizers import optimizer_factory
from tests.conftest import PROJECT

RUN_OPTIONS = [
    (group, option)
    for group in GROUPS["run"]
    for option in options(group)
    if (group, option) != ("trainer", "pretraining")  # of pretrain.yaml
]
NEEDED = {"glove": ["words.path=vectors.txt"], "transformer": ["bilm.weights=folder"]}


@pytest.mark.parametrize(("group", "option"), RUN_OPTIONS)
def test_every_option_of_a_run_has_valid_settings(group, option):
    task = ["task=ner"] if group != "task" else []
    settings = run_settings([*task, f"{group}={option}", *NEEDED.get(option, [])])
    assert RunSettings.model_validate(settings.plain()) == settings


@pytest.mark.parametrize("option", [name for name in options("bilm") if name != "transformer"])
def test_every_bilm_can_be_pretrained_or_started_from(option):
    recipe = [] if option in options("pretraining") else ["pretraining=original"]
    assert pretrain_settings([f"bilm={option}", *recipe]).bilm.name == option


@pytest.mark.parametrize("task", options("size/mini"))
def test_every_small_size_belongs_to_a_task_and_changes_it(task):
    small, full = run_settings([f"task={task}"]), run_settings([f"task={task}", "data=files"])
    assert small.task.build != full.task.build


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("seed=-1", ["seed=-1", "greater than or equal to 0"]),
        ("seed=9223372036854775808", ["seed=9223372036854775808", "less than"]),
        ("elmo.dropout=1.5", ["elmo.dropout=1.5", "less than or equal to 1"]),
        ("elmo.layers=some", ["elmo.layers=some", "'all', 'last', 'first' or 'token'"]),
        ("elmo.placement=[input,side]", ["elmo.placement.1=side", "'input' or 'output'"]),
        ("elmo.scale=-1", ["elmo.scale=-1", "rms"]),
        ("task.training.batch_size=0", ["task.training.batch_size=0", "greater than or equal"]),
        ("task.training.batch_size=2.5", ["task.training.batch_size=2.5", "whole number"]),
        ("task.training.optimizer.lr=nan", ["task.training.optimizer.lr=nan", "finite number"]),
        ("task.build.dropout=2", ["task.build.dropout=2", "less than or equal to 1"]),
        ("task.build.char_filters=[[3]]", ["task.build.char_filters", "[width, number]"]),
        ("task.build._target_=os.system", ["task.build._target_=os.system", "elmo_bench.tasks"]),
        ("task.build._target_=elmo_bench.tasks.x.task.X", ["there is no elmo_bench.tasks.x"]),
        ("task.name=pos", ["task: name: pos, but _target_ is in tasks/ner"]),
        ("force=yes", ["force=yes", "boolean"]),
        ("+sed=3", ["sed=3", "did you mean seed?"]),
        ("+task.training.patienc=3", ["task.training.patienc=3", "task.training.patience?"]),
        ("+task.build.hidden=3", ["task.build.hidden=3", "task.build.hidden_dims?"]),
        ("+elmo.gama=1", ["elmo.gama=1", "Allowed under elmo: dropout"]),
        ("+bilm.lstm.hiden_dim=1", ["bilm.lstm.hiden_dim=1", "bilm.lstm.hidden_dim?"]),
        ("+data.dirr=x", ["data.dirr=x", "Allowed under data"]),
        ("trainer.devices=4", ["trainer.devices=4", "run.py -m", "hydra.launcher.n_jobs=4"]),
        ("words=glove", ["words.path: a value is missing; give words.path=..."]),
        ("data=hub task.hub=null", ["data=hub", "the Hub has no dataset"]),
    ],
)
def test_a_wrong_key_or_value_is_reported_in_one_line_with_what_is_allowed(override, words):
    with pytest.raises(ConfigError) as error:
        run_settings(["task=ner", *override.split()])
    assert all(word in str(error.value) for word in words), str(error.value)
    assert "\n" not in str(error.value)


def test_options_of_an_optimizer_are_those_of_pytorch():
    settings = run_settings(["task=ner", "+task.training.optimizer.weight_decay=0.1"])
    [group] = optimizer_factory(settings.task.training.optimizer)([_parameter()]).param_groups
    assert group["weight_decay"] == 0.1
    settings = run_settings(["task=ner", "+task.training.optimizer.weight_decey=0.1"])
    with pytest.raises(ConfigError, match=r"did you mean task\.training\.optimizer\.weight_decay"):
        optimizer_factory(settings.task.training.optimizer)


def test_another_optimizer_does_not_inherit_options_of_the_default():
    settings = run_settings(["task=squad", "optimizer@task.training.optimizer=adam"])
    optimizer = optimizer_factory(settings.task.training.optimizer)([_parameter()])
    assert isinstance(optimizer, torch.optim.Adam)


def _parameter():
    return torch.nn.Parameter(torch.zeros(1))


def test_how_a_run_computes_does_not_change_its_name(tmp_path):
    how = ["trainer.threads=1", "logger=wandb", f"paths.cache={tmp_path}", "force=true"]
    assert run_id(run_settings(["task=ner", *how])) == run_id(run_settings(["task=ner"]))


@pytest.mark.parametrize("what", ["seed=2", "elmo=last", "words.dim=7", "data.seed=9"])
def test_what_a_run_computes_changes_its_name(what):
    assert run_id(run_settings(["task=ner", what])) != run_id(run_settings(["task=ner"]))


def test_all_language_models_share_a_baseline():
    english = run_settings(["task=ner", "elmo=none", "bilm=english"])
    assert run_id(english) == run_id(run_settings(["task=ner", "elmo=none"]))


@pytest.mark.parametrize(
    ("chosen", "label"),
    [
        (["data.dir=corpora/conll2003"], "files: conll2003"),
        (["data.test=corpora/eng.testb"], "files: eng.testb"),
        (["data.dir=corpora/conll2003", "data.name=conll"], "conll"),
    ],
)
def test_a_corpus_without_a_name_is_called_by_its_folder(chosen, label):
    assert run_settings(["task=ner", "data=files", *chosen]).data.label == label


def test_an_identity_survives_a_round_trip_through_json():
    settings = run_settings(["task=ner"])
    text = settings.model_dump_json(by_alias=True, serialize_as_any=True)
    assert run_id(RunSettings.model_validate_json(text)) == run_id(settings)


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "importtime", "run.py", *arguments]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)


def test_without_a_task_the_tasks_are_listed():
    done = call()
    assert done.returncode == 2
    assert all(f"\n  {task} " in done.stderr for task in task_names())


def test_help_explains_the_use_and_lists_tasks_and_options():
    shown = call("--help").stdout
    assert all(f"\n  {task} " in shown for task in task_names())
    assert "python run.py -m task=ner,sst5" in shown and "open/squad" in shown
    assert "scorer_dim" not in shown  # no dump of one task's config


@pytest.mark.parametrize(
    "arguments", [["--help"], ["task=ner", "--cfg", "job"], ["task=ner", "elmo.layers=x"]]
)
def test_help_config_and_errors_do_not_import_torch(arguments):
    done = call(*arguments)
    assert "| torch\n" not in done.stderr.replace("|   ", "| ")
    assert done.stdout or "elmo.layers=x" in done.stderr


def test_a_mistyped_override_is_reported_with_the_existing_keys():
    done = call("task=ner", "task.trainin.patience=3")
    assert done.returncode == 2
    assert "task.trainin: the key is unknown; did you mean task.training?" in done.stderr


def test_a_path_in_the_home_folder_can_be_given_with_a_tilde():
    done = call("task=ner", "data=files", "data.dir=~/corpus", "--cfg", "job", "-p", "data.dir")
    assert done.stdout.strip() == str(Path.home() / "corpus")


def test_every_field_of_the_settings_has_a_description():
    def undocumented(model, seen):
        for name, field in model.model_fields.items():
            kinds = [field.annotation, *getattr(field.annotation, "__args__", ())]
            below = [k for k in kinds if isinstance(k, type) and hasattr(k, "model_fields")]
            if not below and not field.description and name not in ("name", "kind"):
                yield f"{model.__name__}.{name}"
            for kind in below:
                if kind not in seen:
                    seen.add(kind)
                    yield from undocumented(kind, seen)

    assert list(undocumented(RunSettings, set())) == []


def test_the_paper_s_fine_tuning_has_one_name_and_is_refused_for_an_untrained_bilm():
    names = {
        "paper_finetuned": ("task=ner", "elmo=paper_finetuned"),
        "paper": ("task=sst5", "elmo=paper_finetuned"),  # the authors did not
    }
    for name, words in names.items():
        settings = run_settings(words)
        assert (settings.elmo.name, settings.bilm.finetune) == (name, name == "paper_finetuned")
    same = run_settings(["task=ner", "bilm.finetune=true"])
    assert run_id(same) == run_id(run_settings(names["paper_finetuned"]))
    assert same.elmo.name == "paper_finetuned"
    assert not run_settings(names["paper_finetuned"]).for_baseline().bilm.finetune
    with pytest.raises(ConfigError, match=r"elmo=paper_finetuned: .*untrained biLM"):
        run_settings(["task=ner", "elmo=paper_finetuned", "bilm.weights=random"])
