import csv
import signal
import subprocess
import sys
import time

import pytest
from optuna import TrialPruned
from optuna.trial import TrialState
from pytorch_lightning import LightningModule, Trainer

from elmo_bench.cli import main
from elmo_bench.config.compose import options, run_settings, task_names, task_settings
from elmo_bench.config.folders import CONF
from elmo_bench.runs.history import MetricsHistory
from elmo_bench.tune.show import best_dev, ordered
from elmo_bench.tune.space import Range, read_space, start
from elmo_bench.tune.study import Pruning, Search
from tests.conftest import PROJECT


def test_every_task_of_the_paper_has_ranges():
    papers = {task for task in task_names() if task_settings(task).published}
    assert papers <= set(options("search"))


@pytest.mark.parametrize("task", options("search"))
@pytest.mark.parametrize("data", ["mini", "files"])
def test_the_ranges_of_a_task_have_bounds_that_are_valid_settings(task, data):
    space = read_space(task, run_settings([f"task={task}", f"data={data}"]))
    written = len((CONF / "search" / f"{task}.yaml").read_text().splitlines()) - 1
    assert len(space) == written > 4
    assert all(r.choices or r.low < r.high for r in space.values())
    assert any(key.startswith("elmo.") for key in space)


def test_the_search_of_a_baseline_leaves_out_elmo_settings():
    settings = run_settings(["task=ner", "elmo=none"])
    assert not any(key.startswith("elmo.") for key in read_space("ner", settings))


@pytest.mark.parametrize(
    ("found", "inside", "outside"),
    [
        (Range(low=0.1, high=0.6, step=0.1), 0.3, 0.35),
        (Range(low=1e-4, high=1e-2, log=True), 1e-3, 1e-1),
        (Range(low=2, high=8, step=2), 4, 5),
        (Range(choices=[None, [64, 32]]), [64, 32], [64]),
    ],
)
def test_a_range_holds_exactly_the_values_of_a_trial(found, inside, outside):
    assert found.holds(inside) and not found.holds(outside)


def test_the_first_trial_has_the_settings_of_the_config(settings):
    run = run_settings(["task=ner", *settings])
    values = start(read_space("ner", run), run)
    assert values["task.training.optimizer.lr"] == run.task.training.optimizer.lr
    assert values["task.build.hidden_dims"] == "[64,32]"


def test_a_search_writes_a_table_a_figure_and_the_command_of_the_best(settings, tmp_path, capsys):
    assert main(["tune", "ner", "--trials", "2", "--study", "s", "--with", *settings]) == 0
    shown = capsys.readouterr().out
    folder = tmp_path / "outputs" / "tune" / "s"
    rows = list(csv.DictReader((folder / "trials.csv").open()))
    assert [row["state"] for row in rows] == ["done", "done"]
    assert (folder / "trials.png").stat().st_size > 10_000
    assert "[2/2]" in shown and "python run.py task=ner" in shown
    assert not list(folder.glob("runs/*/checkpoints/*"))  # weights are not kept
    assert not (tmp_path / "results").exists()  # trials are not results


def test_a_search_resumes_where_it_stopped(settings, capsys):
    command = ["tune", "ner", "--study", "s", "--with", *settings]
    main([*command, "--trials", "1"])
    capsys.readouterr()
    main([*command, "--trials", "2"])
    shown = capsys.readouterr().out
    assert "[2/2]" in shown and "[1/2]" not in shown
    assert len(Search("ner", settings, "s").study.trials) == 2


def test_a_failed_trial_is_kept_with_its_error_and_the_search_continues(settings):
    words = [word for word in settings if not word.startswith("words.dim")]
    search = Search("ner", [*words, "words=glove", "words.path=missing.txt"], "s")
    trials = [search.run_one(total=2), search.run_one(total=2)]
    assert [trial.state for trial in trials] == [TrialState.FAIL] * 2
    assert "missing.txt" in trials[0].user_attrs["error"]
    assert search.run_one(total=2) is None


def test_a_trial_below_the_median_of_the_others_is_pruned(settings, tmp_path, monkeypatch):
    monkeypatch.setattr("elmo_bench.tune.study.STARTUP", 1)
    history = MetricsHistory(tmp_path / "curves.csv")
    history.rows = [{"dev/f1": score} for score in (10.0, 20.0)]
    search = Search("ner", settings, "s")
    good, bad = search.study.ask(), search.study.ask()
    for step, value in enumerate((50.0, 60.0)):
        good.report(value, step)
    search.study.tell(good, 60.0)
    with pytest.raises(TrialPruned):
        Pruning(history, bad, "dev/f1").on_validation_end(Trainer(), LightningModule())
    search.study.tell(bad, state=TrialState.PRUNED)
    assert [best_dev(trial) for trial in ordered(search.trials())] == [60.0, 20.0]


def test_a_killed_trial_resumes_from_its_checkpoint(settings, tmp_path, monkeypatch):
    words = [*settings, "task.training.max_epochs=200", "task.training.patience=200"]
    words = [word for word in words if word != "task.training.max_epochs=2"]
    command = [sys.executable, "-m", "elmo_bench.cli", "tune", "ner", "--study", "s"]
    command += ["--with", *words]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL)
    runs = tmp_path / "outputs" / "tune" / "s" / "runs"
    while not list(runs.glob("*/checkpoints/last.ckpt")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    resumed = []

    def train(settings, files, trial, monitor):
        resumed.append((files.checkpoints / "last.ckpt").exists())
        return 50.0

    monkeypatch.setattr("elmo_bench.tune.study.train", train)
    search = Search("ner", words, "s")
    [lost] = search.study.get_trials()
    again = search.run_one(total=1)
    assert resumed == [True]
    assert again.params == lost.params and again.state == TrialState.COMPLETE
    assert [trial.number for trial in search.trials()] == [again.number]
    assert search.run_one(total=1) is None


def test_a_study_is_named_by_what_it_searches(settings):
    one, other = Search("ner", settings, None), Search("ner", [*settings, "seed=2"], None)
    assert one.folder != other.folder
    assert one.folder == Search("ner", settings, None).folder
