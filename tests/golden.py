"""Numbers that a refactoring must reproduce: `python -m tests.golden` rewrites golden.json.

Twenty losses of a pretraining and one short run of each task, at a fixed seed and with one thread,
and the hashes of the generated benchmark's files. Rewrite them only when a change is meant to
change what is computed: raise the version of what computes something else, or old results would
pass for those of the new code, and say so in the CHANGELOG.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from elmo_bench.config.bilm_settings import Architecture
from elmo_bench.config.compose import run_settings, task_names, task_settings
from elmo_bench.mini.files import write_mini
from elmo_bench.mini.settings import VERSION, MiniSettings
from elmo_bench.pretraining.stage import pretrain
from elmo_bench.runs.stage import evaluate
from tests.conftest import TINY, paths_below
from tests.pretraining.tiny_pretraining import compose_pretraining, losses, tiny

FILE = Path(__file__).with_name("golden.json")
NUM_LOSSES = 20
MINI = MiniSettings(
    train=12, dev=6, test=6, train_documents=2, dev_documents=1, test_documents=1,
    corpus_tokens=600, heldout_tokens=200,
)  # fmt: skip


def pretraining_losses(folder: Path) -> list[float]:
    """The first losses of a tiny pretraining with dropout, resets and gradient accumulation."""
    options = [
        "pretraining.batch_size=4",
        "pretraining.state_reset_prob=0.2",
        "pretraining.accumulate_grad_batches=2",
    ]
    pretrain(compose_pretraining(*tiny(folder, *options)))
    return [float(line.split(",")[1]) for line in losses(folder)[:NUM_LOSSES]]


def run_outcome(task: str, folder: Path, cache: Path) -> dict[str, Any]:
    """Scores, losses and layer weights of a tiny run with ELMo."""
    paths = [*paths_below(folder), f"paths.cache={cache}"]
    record = evaluate(run_settings([*TINY, *paths, f"task={task}"]))
    rows = [
        {key: value for key, value in row.items() if "loss" in key or key.startswith("dev/")}
        for row in record.epochs
    ]
    return {"epochs": rows, "scores": record.scores, "layer_weights": record.layer_weights}


def mini_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a small generated benchmark."""
    write_mini(folder, MINI)
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def versions() -> dict[str, int | str]:
    """The versions that are part of the identity of results."""
    tasks = {task: task_settings(task).build.version for task in task_names()}
    return {"pretraining": Architecture.version, "mini": VERSION, **tasks}


def unversioned(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What has other numbers than before under the same version."""
    before, after = ({**made, **made["tasks"]} for made in (old, new))
    return [
        name
        for name, version in new["versions"].items()
        if before.get(name) != after[name] and version == old["versions"].get(name)
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pretraining").mkdir()
        golden = {
            "pretraining": pretraining_losses(folder / "pretraining"),
            "tasks": {task: run_outcome(task, folder, folder / "cache") for task in task_names()},
            "mini": mini_hashes(folder / "mini"),
            "versions": versions(),
        }
    forgotten = unversioned(json.loads(FILE.read_text()), golden)
    if forgotten:
        print("Raise the version of", ", ".join(forgotten), "if its numbers really change.")
    text = json.dumps(golden, indent=1, sort_keys=True) + "\n"
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    if out != FILE or not forgotten:
        out.write_text(text)


if __name__ == "__main__":
    main()
