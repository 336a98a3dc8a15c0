"""docs/fidelity.md compares every setting of a task with the original; it must not fall behind."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from elmo_bench.config.compose import task_names, task_settings
from tests.conftest import PROJECT

GROUPS = ("words", "elmo", "build", "training")
NOT_COMPARED = ("_target_", "_partial_")  # how Hydra builds things; those of PyTorch are compared
SETTING = re.compile(rf"`((?:{'|'.join(GROUPS)})\.[\w.]+: [^`]+)`")


def settings(values: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """The settings below a key as the page writes them: `training.batch_size: 64`."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from settings(value, f"{prefix}.{key}")
        elif key == "_target_" and prefix.startswith("training."):
            yield f"{prefix}: {value.rpartition('.')[2]}"
        elif key not in NOT_COMPARED:
            text = value if isinstance(value, str) else json.dumps(value)
            yield f"{prefix}.{key}: {text}"


def section(task: str) -> str:
    page = (PROJECT / "docs/fidelity.md").read_text(encoding="utf-8")
    found = re.search(rf"^## [^\n]*`{task}`.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, f"docs/fidelity.md has no section on `{task}`"
    return found.group()


# A task that the paper lacks has no original to compare with.
@pytest.mark.parametrize("task", [t for t in task_names() if task_settings(t).published])
def test_every_setting_of_a_task_has_its_row_with_its_value(task):
    values = task_settings(task).plain()
    expected = {line for group in GROUPS for line in settings(values[group], group)}
    compared = SETTING.findall(section(task))
    assert set(compared) == expected, f"conf/task/{task}.yaml changed: change its row too"
    assert len(compared) == len(set(compared)), "a setting has two rows"


def test_a_changed_value_is_noticed():
    before = set(settings({"batch_size": 64, "optimizer": {"_target_": "x.Adam", "lr": 1}}, "t"))
    assert before != set(settings({"batch_size": 32, "optimizer": {"_target_": "x.Adam"}}, "t"))
