"""The contract that every task must meet; tasks are found by listing conf/task."""

import json
from importlib import import_module

import pytest

from elmo_bench.cli import main
from elmo_bench.config.compose import run_settings, task_names
from elmo_bench.data.loading import split_files
from elmo_bench.records.timer import StageTimer
from elmo_bench.runs.build import build_components
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.predict import Predictor
from elmo_bench.runs.stage import evaluate
from tests.tasks.building import metric_of

NAMES = task_names()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("arm", ["none", "paper"])
def test_a_task_trains_writes_its_results_and_predicts_on_new_text(
    name, arm, tiny_run, shared_cache, capsys
):
    settings = tiny_run(f"task={name}", f"elmo={arm}")
    record = evaluate(settings)
    assert (record.task, record.elmo) == (name, arm)
    assert 0 <= record.scores["test"][record.metric] <= 100
    assert list(record.layer_weights) == ([] if arm == "none" else settings.elmo.placement)
    folder = RunFiles.of(settings).folder
    for split in ("dev", "test"):
        [gold] = split_files(settings.task, settings.data, split, shared_cache)
        [predicted] = folder.glob(f"{split}.*")
        capsys.readouterr()
        assert main(["score", name, str(gold), str(predicted), "--json"]) == 0
        score = json.loads(capsys.readouterr().out)[record.metric]
        assert score == pytest.approx(record.scores[split][record.metric], abs=1e-4)
    predictor = Predictor(folder)
    prediction = predictor(predictor.task.example_text)
    assert prediction.annotation.label is not None or prediction.example.segments
    json.dumps(prediction.value)


def test_every_task_of_the_paper_takes_elmo_at_every_placement():
    paper = [name for name in NAMES if run_settings([f"task={name}"]).task.published]
    settings = [run_settings([f"task={name}", "elmo=both"]) for name in paper]
    assert all(one.task.build.placements == ("input", "output") for one in settings)


@pytest.mark.parametrize("name", NAMES)
def test_gold_scores_100_and_its_counts_agree(name, tiny_run):
    components = build_components(tiny_run(f"task={name}", "elmo=none"), StageTimer())
    examples = components.splits["dev"]
    gold = [components.task.gold(example) for example in examples]
    assert components.task.score(examples, gold)[metric_of(name)] == pytest.approx(100)
    counts = [
        components.task.counts(e, prediction) for e, prediction in zip(examples, gold, strict=True)
    ]
    groups = [
        [sum(column) for column in zip(*group, strict=True)] for group in zip(*counts, strict=True)
    ]
    assert all(numbers[0] == numbers[1] and numbers[2] == numbers[3] for numbers in groups)


@pytest.mark.parametrize("name", NAMES)
def test_the_batches_of_a_task_hold_every_example_once(name, tiny_run):
    components = build_components(tiny_run(f"task={name}", "elmo=none"), StageTimer())
    ids = [example.id for batch in components.data.train_dataloader() for example in batch.examples]
    assert sorted(ids) == sorted(example.id for example in components.splits["train"])


@pytest.mark.parametrize("name", NAMES)
def test_a_task_has_a_card_that_names_corpus_license_metric_and_prediction_files(name):
    package = import_module(f"elmo_bench.tasks.{name}")
    card = (package.__doc__ or "").lower()
    assert all(word in card for word in ("corpus", "licen", "metric", "split", "predictions"))
