"""All tasks train on the simulated GPU, in every precision, and give the CPU's numbers."""

import pytest

from elmo_bench.runs.stage import evaluate

TASKS = ("ner", "sst5", "snli", "squad", "srl", "coref")
# Dropout differs between devices, which have different random numbers.
NO_DROPOUT = {"squad": ()}


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed", "16-mixed"])
@pytest.mark.parametrize("elmo", ["none", "both"])
@pytest.mark.parametrize("task", TASKS)
def test_a_run_ends_in_any_precision(gpu_run, tmp_path, task, elmo, precision):
    settings = gpu_run(
        f"task={task}", f"elmo={elmo}", f"task.training.precision={precision}", folder=tmp_path
    )
    record = evaluate(settings)
    assert len(record.epochs) == 2
