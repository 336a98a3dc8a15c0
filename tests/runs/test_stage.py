import gzip
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from elmo_bench.records.run import read_records, write_record
from elmo_bench.runs.files import RunFiles, find_run
from elmo_bench.runs.stage import evaluate, run
from tests.conftest import PROJECT, TINY, paths_below


def outcome(record):
    """The part of a record that must not depend on how the run was executed."""
    epochs = [{k: v for k, v in row.items() if k != "seconds"} for row in record.epochs]
    return record.scores, record.layer_weights, epochs


def test_a_run_and_its_baseline_leave_two_records_and_return_the_dev_score(tiny_run, tmp_path):
    dev = run(tiny_run("task=ner"))
    baseline, elmo = read_records(tmp_path / "results")
    assert (baseline.elmo, baseline.bilm, baseline.layer_weights) == ("none", None, {})
    assert elmo.scores["dev"]["f1"] == dev
    assert len(elmo.layer_weights["input"]["weights"]) == 3
    assert elmo.sizes["train examples"] == 48


def test_the_same_config_gives_the_same_result_again(tiny_run, tmp_path):
    first = evaluate(tiny_run("task=ner", folder=tmp_path / "a"))
    second = evaluate(tiny_run("task=ner", folder=tmp_path / "b"))
    assert outcome(first) == outcome(second)


def test_another_seed_gives_another_result(tiny_run):
    one, two = (evaluate(tiny_run("task=ner", f"seed={seed}")) for seed in (1, 2))
    assert outcome(one) != outcome(two)


def test_layers_from_the_cache_and_computed_online_give_the_same_scores(tiny_run, tmp_path):
    cached = evaluate(tiny_run("task=ner", folder=tmp_path / "a"))
    online = evaluate(tiny_run("task=ner", "features=online", folder=tmp_path / "b"))
    for ours, theirs in zip(outcome(online)[2], outcome(cached)[2], strict=True):
        assert ours == pytest.approx(theirs, rel=1e-4)
    assert online.sizes["feature bytes"] == 0 < cached.sizes["feature bytes"]


def test_a_finished_run_is_not_repeated_unless_forced(tiny_run):
    settings = tiny_run("task=ner", "elmo=none")
    best = RunFiles.of(settings).best
    first = evaluate(settings)
    written = best.stat().st_mtime_ns
    assert evaluate(settings) == first and best.stat().st_mtime_ns == written
    repeated = evaluate(settings.but(force=True))
    assert outcome(repeated) == outcome(first) and best.stat().st_mtime_ns > written


def test_a_record_that_came_with_a_clone_does_not_count_as_finished(tiny_run):
    settings = tiny_run("task=ner", "elmo=none")
    files = RunFiles.of(settings)
    write_record(replace(evaluate(settings), scores={"dev": {"f1": -1.0}}), files.record.parent)
    assert evaluate(settings).scores["dev"]["f1"] == -1.0  # finished: its record is what counts
    files.marker.unlink()  # as after a run that was interrupted, over a shipped record
    with pytest.raises(ValueError, match="no finished run"):
        find_run(files.name, files.folder.parents[1])
    assert evaluate(settings).scores["dev"]["f1"] >= 0


def test_predictions_are_kept_in_the_order_of_the_split_and_their_counts_give_the_score(
    tiny_run, tmp_path
):
    record = evaluate(tiny_run("task=ner"))
    with gzip.open(tmp_path / "results" / record.predictions, "rt") as file:
        lines = [json.loads(line) for line in file]
    assert len(lines) == 16
    correct, predicted, _, gold = (sum(line["counts"][0][i] for line in lines) for i in range(4))
    f1 = 200 * correct / (predicted + gold)
    assert record.scores["test"]["f1"] == pytest.approx(f1, abs=1e-4)


def test_scores_are_those_of_the_ema_weights(tiny_run, tmp_path):
    plain = evaluate(tiny_run("task=ner", "elmo=none", folder=tmp_path / "a"))
    frozen = evaluate(
        tiny_run("task=ner", "elmo=none", "task.training.ema=1.0", folder=tmp_path / "b")
    )
    first, last = frozen.epochs[0]["dev/loss"], frozen.epochs[-1]["dev/loss"]
    assert first == last != plain.epochs[-1]["dev/loss"]


@pytest.mark.parametrize("ema", ["null", "0.5"])
def test_the_weights_that_are_tested_are_those_that_dev_selected(tiny_run, ema):
    tested_on_dev = "task.files.test=${task.files.dev}"
    scores = evaluate(tiny_run("task=ner", f"task.training.ema={ema}", tested_on_dev)).scores
    assert scores["test"] == pytest.approx(scores["dev"])


def command(folder, *overrides: str) -> list[str]:
    return [sys.executable, "run.py", *TINY, *paths_below(folder), "baseline=skip", *overrides]


@pytest.mark.parametrize("arm", ["paper"])
def test_a_killed_run_resumes_and_ends_as_if_never_killed(tiny_run, tmp_path, arm):
    overrides = ["task=ner", f"elmo={arm}", "task.training.max_epochs=8"]
    killed = tmp_path / "killed"
    last = RunFiles.of(tiny_run(*overrides, folder=killed)).checkpoints / "last.ckpt"
    process = subprocess.Popen(command(killed, *overrides), cwd=PROJECT, stderr=subprocess.DEVNULL)
    while not last.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the run was over before it could be killed"
    resumed = evaluate(tiny_run(*overrides, folder=killed))
    whole = evaluate(tiny_run(*overrides, folder=tmp_path / "whole"))
    assert outcome(resumed) == outcome(whole)
    files = [sorted(tmp_path.glob(f"{run}/outputs/runs/*/*.conll")) for run in ("killed", "whole")]
    texts = [[path.read_text() for path in paths] for paths in files]
    assert len(texts[0]) == 2
    assert texts[0] == texts[1]


def test_two_processes_with_one_config_leave_one_valid_record(tmp_path):
    processes = [
        subprocess.Popen(
            command(tmp_path, "task=ner"), cwd=PROJECT, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    shown = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert len(read_records(tmp_path / "results")) == 1
    assert all("test f1" in text for text in shown)
