"""A pretraining that takes seconds, for tests."""

import subprocess
import time
from pathlib import Path

import numpy as np

from elmo_bench.config.compose import pretrain_settings
from elmo_bench.config.pretraining_settings import PretrainSettings
from tests.conftest import PROJECT

TINY = (
    "bilm=mini",
    "corpus=text",
    "bilm.encoder.filters=[[1,4],[2,8]]",
    "bilm.encoder.char_dim=4",
    "bilm.lstm.hidden_dim=12",
    "bilm.lstm.projection_dim=8",
    "pretraining.loss.kind=full",
    "pretraining.batch_size=8",
    "pretraining.unroll_steps=8",
    "pretraining.epochs=2",
    "pretraining.optimizer.lr=0.02",
    "pretraining.schedule.warmup_steps=5",
    "pretraining.num_validations=2",
    "trainer.accelerator=cpu",
    "trainer.progress_bar=false",
    "trainer.log_every_n_steps=1",
    "trainer.threads=1",
)


def compose_pretraining(*overrides: str) -> PretrainSettings:
    """The settings that `python pretrain.py OVERRIDES` would have."""
    return pretrain_settings(overrides)


def write_text(path: Path, sentences: int, seed: int) -> None:
    """Write sentences of a few words with some order in them."""
    draws = np.random.default_rng(seed)
    lines = []
    for _ in range(sentences):
        first = int(draws.integers(20))
        lines.append(" ".join(f"word{(first + n) % 20}" for n in range(int(draws.integers(1, 9)))))
    path.write_text("\n".join(lines) + "\n")


def tiny(folder: Path, *overrides: str) -> list[str]:
    """Overrides of a tiny pretraining that stays within a folder."""
    if not (folder / "text.txt").exists():
        write_text(folder / "text.txt", 120, seed=1)
        write_text(folder / "held.txt", 30, seed=2)
    corpus = [f"corpus.path={folder / 'text.txt'}", f"corpus.heldout={folder / 'held.txt'}"]
    paths = [f"paths.{name}={folder / name}" for name in ("bilm", "cache", "outputs")]
    return [*TINY, *corpus, *paths, f"hydra.run.dir={folder / 'hydra'}", *overrides]


def losses(folder: Path, name: str = "mini") -> list[str]:
    """The loss curve, one line per step."""
    return (folder / "outputs" / "pretraining" / name / "losses.csv").read_text().splitlines()[1:]


def kill_after_next_checkpoint(command: list[str], resume: Path) -> None:
    """Start a training, and kill it when it has written its next checkpoint."""
    before = resume.stat().st_mtime_ns if resume.exists() else 0
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL)
    while not resume.exists() or resume.stat().st_mtime_ns == before:
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.001)
    time.sleep(0.02)
    process.kill()
    process.wait()
