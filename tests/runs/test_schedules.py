import pytest
import torch

from elmo_bench.config.compose import task_settings
from elmo_bench.config.settings import FromTorch, TrainingSettings
from elmo_bench.runs.module import TaskModule
from elmo_bench.runs.optimizers import optimizer_factory, scheduler_factory


def schedule_of(training: TrainingSettings) -> dict:
    """The schedule that a config gives to Lightning."""
    parts = optimizer_factory(training.optimizer), scheduler_factory(training.scheduler)
    module = TaskModule(torch.nn.Linear(2, 2), {}, lambda *_: {}, "f1", *parts)
    return module.configure_optimizers()["lr_scheduler"]


def test_a_schedule_that_monitors_dev_steps_after_each_epoch():
    plateau = {"_target_": "torch.optim.lr_scheduler.ReduceLROnPlateau", "_partial_": True}
    training = task_settings("ner").training.but(scheduler=FromTorch.model_validate(plateau))
    schedule = schedule_of(training)
    assert (schedule["interval"], schedule["monitor"]) == ("epoch", "dev/f1")


def test_coreference_decays_its_rate_by_a_thousandth_every_hundred_steps():
    schedule = schedule_of(task_settings("coref").training)
    assert schedule["interval"] == "step"
    for _ in range(199):
        schedule["scheduler"].optimizer.step()
        schedule["scheduler"].step()
    assert schedule["scheduler"].get_last_lr() == [pytest.approx(1e-3 * 0.999)]
