"""Trials of a study: each drawn once, run once and told once, whatever happens to processes."""

import threading
from contextlib import ExitStack
from functools import cache

import pytest
from optuna.trial import TrialState

from elmo_bench.cli import main
from elmo_bench.config.compose import run_settings
from elmo_bench.tune import study
from elmo_bench.tune.space import Range
from elmo_bench.tune.study import INSTEAD, Search
from tests.tune import stubbed

DISCRETE = {
    "task.training.batch_size": Range(choices=[16, 32]),
    "task.build.dropout": Range(low=0.1, high=0.3, step=0.1),
}


@pytest.fixture(autouse=True)
def stubbed_training(monkeypatch):
    monkeypatch.setattr(study, "train", stubbed.train)
    lock = threading.Lock()  # Hydra is not thread-safe

    @cache
    def compose(*words):
        return run_settings(words)

    def without_the_draw(words):  # which the stub takes from the trial; composing is slow
        with lock:
            return compose(*(w for w in words if not w.startswith(tuple(stubbed.KEYS))))

    monkeypatch.setattr(study, "run_settings", without_the_draw)


def finish(search, total):
    while search.run_one(total) is not None:
        pass
    return [trial.params for trial in search.trials()]


def distinct(params):
    return len({tuple(sorted(values.items())) for values in params})


def test_a_search_draws_the_same_values_whether_it_is_interrupted_or_not(settings):
    undisturbed = finish(Search("ner", settings, "one"), 9)
    for total in (0, 2, 3, 6, 7, 9):
        restarted = finish(Search("ner", settings, "two"), total)
    assert restarted == undisturbed
    assert distinct(undisturbed) == 9
    other = finish(Search("ner", [*settings, "seed=2"], "three"), 9)
    assert other[0] == undisturbed[0]  # the settings of the config
    assert distinct([*undisturbed, *other]) == 17


def test_killed_trials_change_neither_draws_nor_counts(settings):
    undisturbed = finish(Search("ner", settings, "one"), 9)
    killed = Search("ner", settings, "two")
    for _ in range(20):
        killed._start_trial(9)  # and is gone, with its lock
        if len(killed.study.trials) % 3 == 0:
            killed.run_one(9)
    assert finish(Search("ner", settings, "two"), 9) == undisturbed
    assert [trial.state for trial in killed.trials()] == [TrialState.COMPLETE] * 9
    lost = [trial for trial in killed.study.trials if trial.state == TrialState.FAIL]
    assert len(lost) > 9 and len(killed.study.trials) == len(lost) + 9


def test_a_trial_is_enqueued_once_even_if_that_is_interrupted(settings, monkeypatch):
    search = Search("ner", settings, "s")
    search._start_trial(1)
    with monkeypatch.context() as patched:
        patched.setattr(search.study, "tell", lambda *args, **kwargs: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            search.run_one(1)
    search = Search("ner", settings, "s")
    assert [t.state for t in search.study.trials] == [TrialState.RUNNING, TrialState.WAITING]
    finish(search, 1)
    assert [t.state for t in search.study.trials] == [TrialState.FAIL, TrialState.COMPLETE]
    assert search.study.trials[1].user_attrs[INSTEAD] == 0


def test_a_running_trial_is_left_to_its_process(settings, monkeypatch):
    monkeypatch.setattr(study, "run_settings", run_settings)
    inner = []

    def train(settings_, files, trial, monitor):
        monkeypatch.setattr(study, "train", stubbed.train)
        inner.append(Search("ner", settings, "s").run_one(2))
        assert Search("ner", settings, "s").run_one(2) is None
        return stubbed.train(settings_, files, trial, monitor)

    monkeypatch.setattr(study, "train", train)
    search = Search("ner", settings, "s")
    outer = search.run_one(2)
    assert (outer.number, inner[0].number) == (0, 1)
    assert [trial.state for trial in search.study.trials] == [TrialState.COMPLETE] * 2
    assert distinct([outer.params, inner[0].params]) == 2


def test_searches_at_the_same_time_share_the_trials(settings):
    searches = [Search("ner", settings, "s") for _ in range(4)]
    threads = [threading.Thread(target=finish, args=(search, 12)) for search in searches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    trials = searches[0].study.trials
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * 12
    assert distinct([trial.params for trial in trials]) == 12


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_trial_that_the_machine_or_the_user_stopped_resumes(settings, monkeypatch, error):
    def stop(*args):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(study, "train", stop)
        with pytest.raises(type(error)):
            Search("ner", settings, "s").run_one(1)
    search = Search("ner", settings, "s")
    stopped = search.study.trials[0]
    assert search.run_one(1).params == stopped.params
    assert [trial.state for trial in search.trials()] == [TrialState.COMPLETE]


def test_a_draw_that_is_not_a_valid_setting_fails_alone(settings, monkeypatch):
    monkeypatch.setattr(study, "run_settings", run_settings)
    search = Search("ner", settings, "s")
    search.space = {**DISCRETE, "task.build.dropout": Range(low=0.5, high=7.0, step=6.5)}
    finish(search, 4)
    for trial in search.trials():
        if trial.params["task.build.dropout"] > 1:
            assert "task.build.dropout=7.0" in trial.user_attrs["error"]
        else:
            assert trial.state == TrialState.COMPLETE


def test_every_combination_of_a_discrete_space_is_tried_once_and_then_the_search_ends(
    settings, monkeypatch, capsys
):
    monkeypatch.setattr(study, "read_space", lambda task, settings: DISCRETE)
    command = ["tune", "ner", "--study", "s", "--trials", "10", "--with", *settings]
    assert main(command) == 0
    assert "Every combination of conf/search/ner.yaml was tried." in capsys.readouterr().out
    trials = Search("ner", settings, "s").trials()
    assert len(trials) == distinct([trial.params for trial in trials]) == 6
    dropouts = {trial.params["task.build.dropout"] for trial in trials}
    assert dropouts == {0.1, 0.2, 0.3}  # and not 0.30000000000000004


def test_a_draw_of_a_running_trial_is_taken(settings, monkeypatch):
    monkeypatch.setattr(study, "read_space", lambda task, settings: DISCRETE)
    search = Search("ner", settings, "s")
    with ExitStack() as running:
        for _ in range(6):
            trial = search._start_trial(7)
            running.enter_context(search._lock(trial.number))
        assert distinct([trial.params for trial in search.trials()]) == 6
        assert search.run_one(7) is None


def test_a_search_whose_trials_all_fail_still_ends_with_a_table(settings, monkeypatch, capsys):
    def fail(*args):
        raise RuntimeError("does not fit into memory")

    monkeypatch.setattr(study, "train", fail)
    command = ["tune", "ner", "--study", "s", "--trials", "2", "--with", *settings]
    assert main(command) == 1
    shown = capsys.readouterr().out
    assert "does not fit into memory" in shown and "No trial was completed." in shown
