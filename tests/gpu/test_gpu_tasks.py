"""All tasks train on the simulated GPU, in every precision, and give the CPU's numbers."""

import pytest
import torch

from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.module import TaskModule
from elmo_bench.runs.predict import Predictor
from elmo_bench.runs.stage import evaluate

TASKS = ("ner", "sst5", "snli", "squad", "srl", "coref")
ALL = [(t, e, p) for t in TASKS for e in ("none", "both") for p in ("bf16-mixed", "16-mixed")]
QUICK = [("srl", "both", "bf16-mixed"), ("coref", "both", "16-mixed")]  # with layers of our own


@pytest.mark.parametrize(
    ("task", "elmo", "precision"),
    [pytest.param(*c, marks=[] if c in QUICK else pytest.mark.slow) for c in ALL],
)
def test_a_run_ends_in_mixed_precision(gpu_run, tmp_path, task, elmo, precision):
    record = evaluate(
        gpu_run(
            *(f"task={task}", f"elmo={elmo}", f"task.training.precision={precision}"),
            *("task.training.max_epochs=1", "data.train=16"),
            folder=tmp_path,
        )
    )
    assert record.scores["test"]


@pytest.mark.parametrize("features", ["cache", "online"])
@pytest.mark.parametrize("elmo", ["none", "both"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.slow
def test_a_trained_model_predicts_the_same_on_both_devices(gpu_run, tmp_path, task, elmo, features):
    settings = gpu_run(f"task={task}", f"elmo={elmo}", f"features={features}", folder=tmp_path)
    evaluate(settings)
    folder = RunFiles.of(settings).folder
    there, here = Predictor(folder, "auto"), Predictor(folder, "cpu")
    text = here.task.example_text
    assert there(text).value == here(text).value


@pytest.mark.parametrize("task", ["sst5", pytest.param("squad", marks=pytest.mark.slow)])
def test_a_resumed_run_equals_one_that_was_not_interrupted(gpu_run, tmp_path, monkeypatch, task):
    results = {}
    for name in ("whole", "cut"):
        settings = gpu_run(f"task={task}", "task.training.max_epochs=3", folder=tmp_path / name)
        if name == "cut":
            with monkeypatch.context() as patched, pytest.raises(PowerCutError):
                patched.setattr(TaskModule, "on_train_epoch_start", cut_in_third_epoch)
                evaluate(settings)
        rows = evaluate(settings).epochs
        results[name] = [(row["train/loss"], row["dev/loss"]) for row in rows]
    assert len(results["cut"]) == 3
    assert results["cut"] == results["whole"]


class PowerCutError(Exception):
    """Ends a run."""


def cut_in_third_epoch(module):
    if module.trainer.current_epoch == 2:
        raise PowerCutError


def test_the_averages_of_weights_are_on_the_device(gpu_run, tmp_path, monkeypatch):
    devices = []
    update = torch.optim.swa_utils.AveragedModel.update_parameters

    def watched(self, model):
        devices.extend(p.device.type for p in self.parameters())
        update(self, model)

    monkeypatch.setattr(torch.optim.swa_utils.AveragedModel, "update_parameters", watched)
    evaluate(
        gpu_run(
            *("task=sst5", "elmo=none", "task.training.ema=0.9", "task.training.max_epochs=1"),
            folder=tmp_path,
        )
    )
    assert set(devices) == {"fakegpu"}
