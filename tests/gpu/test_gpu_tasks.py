"""All tasks train on the simulated GPU, in every precision, and give the CPU's numbers."""

import pytest
import torch
from torch.overrides import TorchFunctionMode

from elmo_bench.config.compose import run_settings
from elmo_bench.devices import widest_float
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.module import TaskModule
from elmo_bench.runs.predict import Predictor
from elmo_bench.runs.stage import evaluate
from elmo_bench.training.losses import READ_EVERY

TASKS = ("ner", "sst5", "snli", "squad", "srl", "coref")
ALL = [(t, e, p) for t in TASKS for e in ("none", "both") for p in ("bf16-mixed", "16-mixed")]
QUICK_TASKS = ("sst5", "squad", "coref")
QUICK_RUNS = [("ner", "both"), ("snli", "none"), ("srl", "both")]
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


SYNCS = {"ner": 3, "sst5": 0, "snli": 0, "squad": 0, "srl": 2, "coref": 14}


@pytest.mark.parametrize(
    "task", [pytest.param(t, marks=[] if t in QUICK_TASKS else pytest.mark.slow) for t in TASKS]
)
def test_a_training_step_waits_for_the_device_rarely(gpu_run, step_counts, tmp_path, task):
    evaluate(gpu_run(f"task={task}", "elmo=both", "task.training.max_epochs=1", folder=tmp_path))
    print(*step_counts)  # shown if the test fails
    before_losses_are_read = step_counts[: READ_EVERY - 1]
    assert max(count.num_syncs for count in before_losses_are_read) <= SYNCS[task]


def no_dropout(task):
    """Overrides: the two devices draw different numbers."""
    build = run_settings([f"task={task}"]).task.build.plain()
    rates = {key: value for key, value in build.items() if "dropout" in key}
    zeros = {k: [0.0] * len(v) if isinstance(v, list) else 0.0 for k, v in rates.items()}
    return [f"task.build.{key}={zero}" for key, zero in zeros.items()]


@pytest.mark.parametrize(
    ("task", "elmo"),
    [
        pytest.param(t, e, marks=[] if (t, e) in QUICK_RUNS else pytest.mark.slow)
        for t in TASKS
        for e in ("none", "both")
    ],
)
def test_losses_and_scores_are_those_of_the_cpu(
    gpu_run, tiny_run, tmp_path, monkeypatch, task, elmo
):
    chosen = (f"task={task}", f"elmo={elmo}", "words.word_dropout=0", *no_dropout(task))
    chosen += ("baseline=skip", *(["elmo.dropout=0"] if elmo == "both" else []))
    there = evaluate(gpu_run(*chosen, folder=tmp_path / "gpu"))
    monkeypatch.undo()
    here = evaluate(tiny_run(*chosen, folder=tmp_path / "cpu"))
    assert there.environment["device"] == "fakegpu"
    for one, other in zip(here.epochs, there.epochs, strict=True):
        for key in ("train/loss", "dev/loss"):
            assert other[key] == pytest.approx(one[key], rel=1e-3)


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


class NoFloat64(TorchFunctionMode):
    """A device that has no float64, as MPS."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor) and made.device.type == "fakegpu":
            assert made.dtype != torch.float64, function
        return made


@pytest.mark.parametrize(
    "task", [pytest.param(t, marks=[] if t == "ner" else pytest.mark.slow) for t in TASKS]
)
def test_a_device_without_float64_trains_too(gpu_run, tmp_path, monkeypatch, task):
    settings = gpu_run(f"task={task}", "task.training.max_epochs=1", folder=tmp_path)
    with NoFloat64():
        if task == "ner":  # whose CRF takes the widest type
            with pytest.raises(AssertionError, match="float64"):
                evaluate(settings)
        monkeypatch.setattr("elmo_bench.nn.crf.widest_float", lambda _: torch.float32)
        assert evaluate(settings).scores["test"]
    assert widest_float(torch.device("mps")) == torch.float32


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
