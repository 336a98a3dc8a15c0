"""The contract that every task must meet; tasks are found by listing conf/task."""

import json
from importlib import import_module

import pytest

from elmo_bench.cli import main
from elmo_bench.config.compose import PROJECT, plain, task_config, task_names
from elmo_bench.data.loading import split_files
from elmo_bench.records.timer import StageTimer
from elmo_bench.runs.build import build_components
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.predict import Predictor
from elmo_bench.runs.stage import evaluate

NAMES = task_names()
TYPED = {  # what a person would type to `elmo-bench predict`
    "ner": "Ann Smith moved to New York .",
    "sst5": "A warm and funny film .",
    "snli": "A man sleeps . ||| A person is awake .",
    "squad": "Ann lives in York . ||| Where does Ann live ?",
    "srl": "The cat *chased* the dog .",
    "coref": "Ann met Bob . She liked him .",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("arm", ["none", "paper"])
def test_a_task_trains_leaves_its_results_and_can_be_used_on_new_text(
    name, arm, tiny_run, shared_cache, capsys
):
    cfg = tiny_run(f"task={name}", f"elmo={arm}")
    record = evaluate(cfg)
    assert (record.task, record.elmo) == (name, arm)
    assert 0 <= record.scores["test"][record.metric] <= 100
    assert list(record.layer_weights) == ([] if arm == "none" else list(cfg.elmo.placement))
    folder = RunFiles.of(cfg).folder
    for split in ("dev", "test"):
        [gold] = split_files(plain(cfg.task), plain(cfg.data), split, shared_cache)
        [predicted] = folder.glob(f"{split}.*")
        capsys.readouterr()
        assert main(["score", name, str(gold), str(predicted), "--json"]) == 0
        score = json.loads(capsys.readouterr().out)[record.metric]
        assert score == pytest.approx(record.scores[split][record.metric], abs=1e-4)
    prediction = Predictor(folder)(TYPED[name])
    assert prediction.annotation.label is not None or prediction.example.segments
    json.dumps(prediction.value)


@pytest.mark.parametrize("name", NAMES)
def test_gold_scores_100_and_so_do_its_counts(name, tiny_run):
    components = build_components(tiny_run(f"task={name}", "elmo=none"), StageTimer())
    examples = components.splits["dev"]
    gold = [components.task.gold(example) for example in examples]
    metric = task_config(name).metric
    assert components.task.score(examples, gold)[metric] == pytest.approx(100)
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
def test_a_task_has_a_card_that_names_corpus_license_and_metric(name):
    package = import_module(f"tasks.{name}")
    card = (package.__doc__ or "").lower()
    assert all(word in card for word in ("corpus", "licen", "metric", "split"))
    assert (PROJECT / "conf" / "size" / "mini" / f"{name}.yaml").exists()
