import json
import os
import runpy
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial

import pytest

from elmo_bench.records.run import read_records
from elmo_bench.sweep.job import read_jobs
from tests.conftest import PROJECT, TINY, paths_below


@pytest.fixture
def paths(tmp_path, shared_cache):
    """Folders of a test; the generated benchmark is the same for all tests."""
    return [*paths_below(tmp_path)[:2], f"paths.cache={shared_cache}", *paths_below(tmp_path)[3:]]


@pytest.fixture
def run_py(paths, monkeypatch, capsys):
    """A function that calls run.py with tiny settings and returns exit status and output."""

    def call(*words: str) -> tuple[int, str]:
        settings = [
            w for w in TINY if w.partition("=")[0] not in {x.partition("=")[0] for x in words}
        ]
        argv = ["run.py", *words, *settings, *paths]
        monkeypatch.setattr(sys, "argv", argv)
        monkeypatch.chdir(PROJECT)
        with pytest.raises(SystemExit) as stop:
            runpy.run_path("run.py", run_name="__main__")
        status = stop.value.code
        shown = capsys.readouterr()
        return status, shown.out + shown.err

    return call


def sweeps(folder):
    """The jobs of each sweep, the earliest first."""
    return [list(read_jobs(path)) for path in sorted((folder / "outputs" / "sweeps").iterdir())]


def test_jobs_share_a_baseline_and_print_a_line_each_and_the_comparison(run_py, tmp_path):
    status, shown = run_py("-m", "task=ner", "elmo=paper,last")
    assert status == 0
    assert Counter(record.elmo for record in read_records(tmp_path / "results")) == Counter(
        ["none", "paper", "last"]
    )
    [[first, second]] = sweeps(tmp_path)
    assert [part.state for part in (*first.parts, *second.parts)] == [
        "done", "done", "done before", "done",
    ]  # fmt: skip
    assert "[1/2] elmo=paper: done" in shown and "[2/2] elmo=last: done" in shown
    assert "Test scores with and without ELMo" in shown


def test_a_failing_job_is_recorded_and_the_others_run(run_py, tmp_path, monkeypatch):
    # As for a biLM that is removed after the sweep has looked for it.
    monkeypatch.setattr("elmo_bench.sweep.callback._check_inputs", lambda jobs: None)
    weights = "bilm.weights=nowhere,random"
    status, shown = run_py("-m", "task=ner", "baseline=skip", weights)
    failed, good = sorted(read_records(tmp_path / "results"), key=lambda r: r.error is None)
    assert status == 3
    assert "no biLM checkpoint at nowhere" in failed.error and failed.scores == {}
    assert good.config["bilm"]["weights"] == "random" and good.scores["test"]
    assert "1 of 2 jobs failed" in shown


def test_a_missing_input_ends_a_sweep_before_its_first_job(run_py, tmp_path):
    status, shown = run_py("-m", "task=ner", "bilm.weights=random,nowhere")
    assert status == 2 and shown.count("\n") == 1 and "no biLM checkpoint at nowhere" in shown
    assert not (tmp_path / "results").exists()


def test_the_same_command_does_only_what_is_missing(run_py, tmp_path):
    run_py("-m", "task=ner", "elmo=none", "seed=1,2")
    _, shown = run_py("-m", "task=ner", "elmo=none", "seed=1,2,3")
    assert [job.state for job in sweeps(tmp_path)[1]] == ["done before", "done before", "done"]
    assert "[3/3] seed=3: done" in shown


def test_an_invalid_value_fails_only_its_own_job(run_py, tmp_path):
    status, shown = run_py("-m", "task=ner", "elmo=none", "task.training.batch_size=0,16")
    assert status == 3
    assert "task.training.batch_size=0: must be greater than or equal to 1" in shown
    assert [job.state for job in sweeps(tmp_path)[0]] == ["failed", "done"]


def test_a_failure_does_not_replace_a_result(run_py, tmp_path, monkeypatch):
    run_py("-m", "task=ner", "elmo=none")
    [good] = read_records(tmp_path / "results")
    monkeypatch.setattr("elmo_bench.runs.stage._execute", lambda settings, overrides, files: 1 / 0)
    status, _ = run_py("-m", "task=ner", "elmo=none", "force=true")
    assert status == 3
    assert read_records(tmp_path / "results") == [good]


def test_a_dry_run_lists_runs_with_their_baselines_and_starts_none(run_py, tmp_path):
    run_py("-m", "task=ner", "elmo=none", "seed=1")
    status, shown = run_py("-m", "task=ner", "elmo=paper,last", "seed=1,2", "--dry-run")
    assert status == 0
    assert "6 runs: 1 done, 5 to do" in shown
    assert len(read_records(tmp_path / "results")) == 1


def test_a_sweep_can_vary_the_task(run_py):
    status, shown = run_py("-m", "task=ner,sst5", "elmo=none", "--dry-run")
    assert status == 0
    assert "2 runs: 2 to do" in shown
    assert "sst5-none" in shown


def test_a_dry_run_of_a_single_run_imports_no_torch(tmp_path):
    code = (
        "import atexit, runpy, sys\n"
        "atexit.register(lambda: print('torch' in sys.modules))\n"
        "runpy.run_path('run.py', run_name='__main__')"
    )
    words = ["task=ner", "--dry-run", *TINY, *paths_below(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-2:] == ["2 runs: 2 to do", "False"], done.stderr


def test_part_of_the_training_data_is_the_same_for_both_models(run_py, tmp_path):
    status, _ = run_py("-m", "task=snli", "data.train_fraction=0.001,0.5")
    records = read_records(tmp_path / "results")
    assert status == 0
    assert Counter((r.elmo, r.sizes["train examples"]) for r in records) == Counter(
        [("none", 1), ("none", 24), ("paper", 1), ("paper", 24)]
    )


def start_sweep(paths, *words: str) -> subprocess.Popen:
    command = [sys.executable, "run.py", "-m", *words, *TINY, *paths]
    # Background processes ignore SIGINT, and child processes would inherit that.
    restore = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    gpus = {"CUDA_VISIBLE_DEVICES": "3,5"}
    return subprocess.Popen(
        command,
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=restore,
        env=os.environ | gpus,
    )


def test_an_interrupted_sweep_reports_what_it_did_and_leaves_only_the_rest_to_do(
    run_py, tmp_path, paths
):
    command = ("task=ner", "elmo=none", "seed=range(1,21)")
    process = start_sweep(paths, *command)
    while not list(tmp_path.glob("outputs/sweeps/*/0/job.json")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    shown = process.communicate()[0]
    assert process.returncode not in (0, 3)
    assert "of 20 jobs did not finish" in shown
    done = len(read_records(tmp_path / "results"))
    assert f"20 runs: {done} done" in run_py("-m", *command, "--dry-run")[1]


def test_two_concurrent_sweeps_on_the_same_folders_do_each_run_once(tmp_path, paths):
    orders = ("elmo=paper,last", "elmo=last,paper")
    processes = [start_sweep(paths, "task=ner", order) for order in orders]
    shown = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], shown
    records = read_records(tmp_path / "results")
    assert {record.elmo for record in records} == {"none", "paper", "last"}
    assert len(records) == 3 and all(record.scores["test"] for record in records)


@pytest.mark.parametrize("launcher", ["joblib", "submitit_local"])
def test_a_launcher_runs_jobs_in_processes_that_share_the_cores_and_gpus(tmp_path, paths, launcher):
    words = ("task=ner", "elmo=none", "seed=1,2", f"hydra/launcher={launcher}")
    process = start_sweep(paths, *words)
    shown = process.communicate()[0]
    assert process.returncode == 0, shown
    assert "[2/2]" in shown
    [jobs] = sweeps(tmp_path)
    assert all(job.threads == 1 and job.cpu_seconds <= 1.2 * job.seconds for job in jobs)
    assert {job.gpus for job in jobs} == {"3", "5"}
    assert len(read_records(tmp_path / "results")) == 2


def test_more_jobs_than_cores_are_refused(run_py):
    status, shown = run_py("-m", "task=ner", "hydra/launcher=joblib", "hydra.launcher.n_jobs=999")
    assert status == 2
    assert "hydra.launcher.n_jobs=999" in shown and "cores" in shown


def test_an_unknown_table_is_reported_before_the_sweep(run_py):
    status, shown = run_py("-m", "task=ner", "tables=[main,nice]")
    assert status == 2
    assert "tables=nice: unknown" in shown and "placement" in shown


def test_a_job_file_keeps_everything(run_py, tmp_path):
    run_py("-m", "task=ner", "elmo=none")
    [path] = (tmp_path / "outputs" / "sweeps").glob("*/0/job.json")
    content = json.loads(path.read_text())
    assert "task=ner" in content["overrides"] and content["parts"][0]["arm"] == "none"
