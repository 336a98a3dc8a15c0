from collections import Counter

import pytest
from omegaconf import OmegaConf

from elmo_bench.config.compose import compose, options, run_settings, task_names, task_settings
from elmo_bench.config.folders import CONF
from elmo_bench.config.hydra_main import _chooses_task
from elmo_bench.report.names import TABLES
from elmo_bench.runs.identity import run_id
from elmo_bench.sweep.plan import plan, runs_of
from elmo_bench.sweep.watch import job_overrides, labels

SWEEPS = {
    "table1": 60,
    "table2_layers": 12,
    "table3_placement": 9,
    "table7_context": 12,
    "figure1_sample_efficiency": 14,
    "figure2_layer_weights": 30,
    "finetune_bilm": 12,
}


def jobs_of(experiment: str, *words: str) -> list[list[str]]:
    config = compose("run", [f"experiment={experiment}"], with_hydra=True)
    config.hydra.overrides.task = [f"experiment={experiment}", *words]
    return job_overrides(config)


def test_every_overlay_except_debug_is_a_sweep_listed_here():
    assert {path.stem for path in (CONF / "experiment").glob("*.yaml")} == {"debug", *SWEEPS}


@pytest.mark.parametrize("experiment", SWEEPS)
def test_the_jobs_of_an_overlay_compose(experiment):
    text = (CONF / "experiment" / f"{experiment}.yaml").read_text()
    assert text.startswith("# @package _global_\n")
    jobs = jobs_of(experiment)
    assert len(jobs) == len(set(labels(jobs))) == SWEEPS[experiment]
    for job in (jobs[0], jobs[-1]):
        run_settings(job)


def test_every_task_of_the_paper_has_an_overlay_for_an_open_corpus():
    papers = {task for task in task_names() if task_settings(task).published}
    assert papers <= set(options("experiment/open"))


@pytest.mark.parametrize("name", options("experiment/open"))
def test_an_overlay_for_an_open_corpus_has_its_task_and_its_own_sizes(name):
    task = name.partition("_")[0]  # ner_wnut17: another corpus of ner
    ours = run_settings([f"experiment=open/{name}"])
    papers = run_settings([f"task={task}", "data=files"])
    assert ours.task.name == task
    assert (ours.data.name not in ("files", "mini"), ours.bilm.name) == (True, "english")
    assert run_id(ours) != run_id(papers)


def test_a_plan_of_several_open_corpora_names_corpus_and_control(tmp_path):
    config = compose("run", with_hydra=True)
    words = ["experiment=open/sst5,open/snli", "bilm.weights=null,random"]
    words.append("data.train_fraction=0.03,1")
    config.hydra.overrides.task = [*words, f"paths.cache={tmp_path}", f"paths.results={tmp_path}"]
    planned = {run for job in job_overrides(config) for run in plan(run_settings(job))}
    arms = ("baseline", "paper, english", "paper, english, untrained")
    assert Counter((run.corpus, run.arm) for run in planned) == {
        (f"{corpus}{part}", arm): 1
        for corpus in ("sst", "snli17k")
        for part in ("", ", 3 %")
        for arm in arms
    }


@pytest.mark.parametrize("experiment", ["open/ner,open/squad", "open/squad", "table1", "unknown"])
def test_experiments_that_name_their_tasks_need_no_task(experiment):
    assert _chooses_task(f"experiment={experiment}")


@pytest.mark.parametrize(("base", "expected"), [("override /task: ner", True), ("a: 1", False)])
def test_an_experiment_names_the_tasks_of_the_one_it_is_based_on(
    tmp_path, monkeypatch, base, expected
):
    folder = tmp_path / "experiment" / "open"
    folder.mkdir(parents=True)
    (folder / "first.yaml").write_text(f"defaults:\n  - {base}\n")
    (folder / "second.yaml").write_text("defaults:\n  - open/first\n  - _self_\n")
    monkeypatch.setattr("elmo_bench.config.hydra_main.CONF", tmp_path)
    assert _chooses_task("experiment=open/second") == expected


@pytest.mark.parametrize("word", ["experiment=debug", "experiment=open/ner,debug", "seed=1"])
def test_other_words_need_one(word):
    assert not _chooses_task(word)


def test_the_command_line_narrows_an_overlay():
    jobs = jobs_of("table1", "task=ner", "elmo=paper", "seed=1,2")
    assert labels(jobs) == ["seed=1", "seed=2"]


def test_lambda_of_a_single_layer_makes_no_second_run():
    jobs = jobs_of("table2_layers", "task=ner")
    runs = {run_id(one) for job in jobs for one in runs_of(run_settings(job))}
    assert len(runs) == 4  # baseline, last, and all layers with either lambda


def test_layer_weights_are_those_of_table_1():
    def runs(jobs):
        return {run_id(run_settings(job)) for job in jobs}

    one = jobs_of("table1", "seed=1", "elmo=paper")
    assert runs(jobs_of("figure2_layer_weights", "seed=1")) == runs(one)


def test_fine_tuning_makes_other_runs_only_where_the_authors_did():
    settings = [run_settings(job) for job in jobs_of("table1", "seed=1")]
    tuned = {one.task.name for one in settings if one.bilm.finetune}
    assert tuned == {"squad", "snli", "ner"}
    assert len({run_id(one) for one in settings}) == 6 + 3
    names = {one.elmo.name for one in settings if one.task.name not in tuned}
    assert names == {"paper"}


def test_sweeps_end_with_tables_that_exist():
    for experiment in SWEEPS:
        overlay = OmegaConf.load(CONF / "experiment" / f"{experiment}.yaml")
        assert set(overlay.get("tables", ["main"])) <= set(TABLES)
