"""What a run says before it begins: its stages, what is there already, the device, the time."""

import os
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from statistics import median

import torch

from elmo_bench.config.bilm_settings import TransformerSettings
from elmo_bench.config.settings import CorpusWords, RunSettings
from elmo_bench.records.environment import environment
from elmo_bench.records.run import Record, read_records
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.identity import identity
from elmo_bench.runs.pretraining import own_folder


def header(stages: Sequence[RunSettings]) -> Iterator[str]:
    """Yield the lines.

    Args:
        stages: The runs to do, in order: usually the baseline and the run with ELMo.
    """
    last = stages[-1]
    yield f"{last.task.name} on {last.data.label}, seed {last.seed}"
    earlier = read_records(last.paths.results)
    for settings in stages:
        files = RunFiles.of(settings)
        yield f"  {arm(settings):24} {_state(settings, files)}{_expected(settings, files, earlier)}"
    if any(map(_needs_bilm, stages)):
        kind = "encoder" if isinstance(last.bilm, TransformerSettings) else "biLM"
        yield f"  {f'{kind} {last.bilm.name}':24} {_bilm_state(last)}"
    yield f"  {'device':24} {device(last.trainer.accelerator, last.trainer.threads)}"


def arm(settings: RunSettings) -> str:
    """What a stage is called."""
    return "baseline" if settings.elmo.is_baseline else f"+ELMo ({settings.elmo.name})"


def device(accelerator: str, threads: int | None) -> str:
    """The device that computes, its memory, and threads."""
    if accelerator != "cpu" and torch.cuda.is_available():
        free, total = torch.cuda.mem_get_info()
        name = torch.cuda.get_device_name()
        return f"{name}, {free / 1e9:.1f} of {total / 1e9:.1f} GB free"
    if accelerator != "cpu" and torch.backends.mps.is_available():
        return "Apple GPU (mps)"
    threads = threads or torch.get_num_threads()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return f"cpu, {threads} thread{'s' * (threads > 1)}, {memory:.1f} GB of memory"


def _state(settings: RunSettings, files: RunFiles) -> str:
    if not settings.force and files.finished() is not None:
        return f"finished before: {files.record}"
    if not settings.force and files.is_begun:
        return "resumes from its last epoch"
    return f"to train, at most {settings.task.training.max_epochs} epochs"


def _expected(settings: RunSettings, files: RunFiles, earlier: Sequence[Record]) -> str:
    """How long runs took here that differ only in the seed; the first epoch tells of others."""
    if not settings.force and files.finished() is not None:
        return ""
    what, here = _but_seed(identity(settings)), environment()
    alike = [
        sum(record.seconds.values())
        for record in earlier
        if record.error is None
        and record.seconds
        and record.environment.get("platform") == here["platform"]
        and record.environment.get("processors") == here["processors"]
        and _but_seed(record.config) == what
    ]
    if not alike:
        return "; the first epoch will tell how long"
    return f"; about {timedelta(seconds=round(median(alike)))}, as before with another seed"


def _but_seed(config: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in config.items() if key != "seed"}


def _needs_bilm(settings: RunSettings) -> bool:
    return not settings.elmo.is_baseline or isinstance(settings.words, CorpusWords)


def _bilm_state(settings: RunSettings) -> str:
    bilm = settings.bilm
    if bilm.weights == "random":
        return "untrained"
    if bilm.weights is not None:
        return f"from {bilm.weights}"
    own = own_folder(settings)
    if (Path(own) / "config.yaml").exists():
        return f"found in {own}"
    if bilm.official:
        return "published weights, downloaded if missing"
    if bilm.pretrain_on is not None:
        return f"to pretrain, on corpus={bilm.pretrain_on}"
    return "shipped"
